// SPDX-License-Identifier: Apache-2.0
//
// What the user asked for. Flags, environment variables and the configuration file come from one table (flags.h).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/output/log.h"
#include "app/output/output.h"

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
  bool manage_crd = false;
  std::string installation;  ///< Whose declared objects are ours.
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

}  // namespace cnpa
