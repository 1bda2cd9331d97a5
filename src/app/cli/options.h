// SPDX-License-Identifier: Apache-2.0
//
// What the user asked for. Flags, environment variables and the configuration file come from one table (flags.h).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/exit_code.h"
#include "app/output/log.h"
#include "app/output/output.h"
#include "base/environment.h"
#include "base/result.h"

namespace cnpa {

enum class Command { kNone, kReconcile, kGet, kExplain, kCheck, kCrd, kRbac, kUnit, kVersion, kHelp };
enum class OutputFormat { kText, kJson, kYaml, kWide, kName };

struct Options {
  Command command = Command::kNone;

  bool once = false;
  bool diff = false;
  bool server = false;       ///< With `diff`: ask the server too.
  std::string kubeconfig;    ///< Empty: the usual places.
  std::string context;       ///< Empty: the current one.
  std::string metrics_file;  ///< Empty: none is written.
  std::string archive;       ///< Empty: there is no folder; deletions then wait.
  bool archive_is_default = false;
  std::chrono::milliseconds interval{0};
  std::chrono::milliseconds linger{0};  ///< 0: not at all.
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds request_timeout{0};
  int concurrency = 0;
  bool allow_crd_deletion = false;
  bool no_events = false;
  std::vector<std::string> only;  ///< Empty: all team spaces.
  bool config_only = false;       ///< For `check`: no cluster is asked.

  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kAuto;
  ColorMode color = ColorMode::kAuto;
  OutputFormat output = OutputFormat::kText;

  std::vector<std::string> names;    ///< For `get`: empty: all. For `explain`: one.
  std::string rbac_user;             ///< For `rbac`.
  std::string rbac_service_account;  ///< For `rbac`: "namespace:name"; empty: the user.
  bool openshift = false;

  /// Whether pass follows on pass until a signal ends that.
  bool loops() const { return command == Command::kReconcile && !once && !diff; }

  bool operator==(const Options&) const = default;
};

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
