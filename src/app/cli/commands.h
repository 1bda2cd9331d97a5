// SPDX-License-Identifier: Apache-2.0
//
// The table of commands: which there are, which flags each takes, and what --help says after them.
#pragma once

#include <span>
#include <string_view>

#include "app/cli/options.h"

namespace cnpa {

constexpr const char* kDefaultConfig = "/etc/cnpa-op/config.yaml";
constexpr const char* kConfigVariable = "CNPA_OP_CONFIG";

/// Of the flags that are in no table, since they set no option.
constexpr const char* kConfigHelp = "configuration file; else /etc/cnpa-op/config.yaml if it is there";
constexpr const char* kHelpHelp = "this help";
constexpr const char* kVersionHelp = "the version, as the command version prints it";

/// Which words follow: names of team spaces, or that of a command.
enum class NamesTaken { kNone, kAny, kOne, kCommand };

struct CommandInfo {
  Command command;
  const char* name;
  unsigned scope;   ///< Which flags: bits of FlagScope.
  bool configured;  ///< By variables and the file: a broken one must not keep anybody from asking for the version.
  const char* help;
  std::string_view footer;  ///< Of --help, after the flags.
  NamesTaken names = NamesTaken::kNone;
};

/// Returns all commands, in the order of help.
std::span<const CommandInfo> Commands();

/// Returns what `cnpa-op` without a command says.
std::string_view ShortHelp();

}  // namespace cnpa
