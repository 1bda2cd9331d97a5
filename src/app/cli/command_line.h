// SPDX-License-Identifier: Apache-2.0
//
// From what was typed, variables and the configuration file to options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/exit_code.h"
#include "app/cli/options.h"
#include "base/environment.h"
#include "base/result.h"

namespace cnpa {

struct CommandLine {
  Options options;
  std::optional<ExitCode> exit_code;  ///< Set: all is said (help, or an error); just exit.
  std::string error;                  ///< What is wrong, if anything is.
  std::string help;                   ///< What was asked for in place of a run.
  std::vector<std::string> warnings;
};

/// Reads arguments, variables ("NAME=value", as EnvironmentList() has them) and the configuration file; prints help,
/// warnings and errors itself.
CommandLine ParseCommandLine(int argc, const char* const* argv, const std::vector<std::string>& variables);

/// Reads once more what ParseCommandLine() could read, and prints nothing.
///
/// Errors:  kInvalid: what is wrong with it now.
Result<Options> ReparseCommandLine(int argc, const char* const* argv, const std::vector<std::string>& variables);

/// Returns the folder for archives when none is given: where systemd says, else where the user's state
/// belongs. Empty in a pod, where nothing outlives the container unless somebody says where.
std::string DefaultArchive(const Environment& environment, bool is_root);

}  // namespace cnpa
