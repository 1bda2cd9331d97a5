// SPDX-License-Identifier: Apache-2.0
//
// What the man pages, the completions and the configuration file that a package brings need to know of commands and
// flags. All of it is read off the two tables that the command line itself is made of, so none of it can be out of
// step with --help.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/commands.h"
#include "app/flags.h"

namespace cnpa {

/// Returns the flags of a command in the order of its --help, with --config, where it has one, and --help.
std::vector<Flag> FlagsOf(const CommandInfo& command);

/// Returns all flags in the order of the table, with --config and --help.
std::vector<Flag> AllFlags();

/// Returns the names of the commands that take `flag`, in the order of help.
std::vector<std::string> CommandsWith(const Flag& flag);

/// Returns the flags that are keys of the configuration file.
std::vector<Flag> Keys();

/// Returns the words that a flag chooses from, in the order in which it names them; empty: it takes any text.
std::vector<std::string> WordsOf(const Flag& flag);

/// Returns what a value in the configuration file is: "duration", "path of a file". Which words there are says its
/// help.
std::string TypeOf(const Flag& flag);

/// Returns a value that the flag takes: its default, or, where that depends on the machine, one that may be meant.
std::string ExampleOf(const Flag& flag);

/// Returns `parts` with `between` between each two of them.
std::string Join(const std::vector<std::string>& parts, std::string_view between);

/// What --help of a command says after its flags, taken apart.
struct Footer {
  std::vector<std::string> paragraphs;
  std::vector<std::pair<std::string, std::string>> exit_codes;
  std::vector<std::string> exit_notes;  ///< What is said of exit codes below the list.
  std::vector<std::string> examples;
};

/// Takes a footer apart: paragraphs, and the lists that begin with "Exit codes:" and "Examples:".
Footer ReadFooter(std::string_view text);

}  // namespace cnpa
