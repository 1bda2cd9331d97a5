// SPDX-License-Identifier: Apache-2.0
//
// What --help says: the flags of a command from their table, and the text that follows them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/flags.h"

namespace cnpa {

/// Returns the flags of a command in the order of its --help, with --config, where it has one, --help and --version.
std::vector<Flag> FlagsOf(const CommandInfo& command);

/// Returns all flags in the order of the table, with --config, --help and --version.
std::vector<Flag> AllFlags();

/// Returns the words that a flag chooses from, in the order in which it names them; empty: it takes any text.
std::vector<std::string> WordsOf(const Flag& flag);

/// What --help of a command says after its flags, taken apart.
struct Footer {
  std::vector<std::string> paragraphs;
  std::vector<std::pair<std::string, std::string>> exit_codes;
  std::vector<std::string> exit_notes;  ///< What is said of exit codes below the list.
  std::vector<std::string> examples;
};

/// Takes a footer apart: paragraphs, and the lists that begin with "Exit codes:" and "Examples:".
Footer ReadFooter(std::string_view text);

/// Returns the parts of `text` that stand between `between`, without empty ones.
std::vector<std::string> Split(std::string_view text, std::string_view between);

/// Returns `parts` with `between` between each two of them.
std::string Join(const std::vector<std::string>& parts, std::string_view between);

/// Returns --help of `command` in lines of at most `columns`. Examples are whole lines, to be pasted.
std::string HelpText(const CommandInfo& command, std::size_t columns);

}  // namespace cnpa
