// SPDX-License-Identifier: Apache-2.0
#include "app/cli/flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/core.h>

#include "app/cli/names.h"
#include "base/time.h"
#include "core/objects/objects.h"
#include "kube/codec/codec.h"

namespace cnpa {
namespace {

template <std::string Options::*member>
Status SetText(Options& options, const std::string& text) {
  if (text.empty()) return Fail(ErrorCode::kInvalid, "must not be empty");
  options.*member = text;
  return {};
}

template <bool Options::*member>
Status SetSwitch(Options& options, const std::string& text) {
  if (text != "true" && text != "false") return Fail(ErrorCode::kInvalid, "'" + text + "' is neither true nor false");
  options.*member = text == "true";
  return {};
}

template <std::chrono::milliseconds Options::*member, int least_ms = 1000>
Status SetDuration(Options& options, const std::string& text) {
  const Result<std::chrono::milliseconds> span = ParseDuration(text);
  if (!span) return tl::unexpected<Error>(span.error());
  if (span->count() < least_ms) {
    return Fail(ErrorCode::kInvalid, fmt::format("'{}' is shorter than {}", text, least_ms == 1000 ? "1s" : "100ms"));
  }
  options.*member = *span;
  return {};
}

/// Sets an enumeration from one of a few words.
template <typename T, std::size_t N>
Status SetWord(T& target, const std::string& text, const std::array<std::pair<std::string_view, T>, N>& words) {
  std::string known;
  for (const auto& [word, value] : words) {
    if (text == word) {
      target = value;
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return Fail(ErrorCode::kInvalid, "'" + text + "' is none of " + known);
}

Status SetConcurrency(Options& options, const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > 256) {
    return Fail(ErrorCode::kInvalid, "'" + text + "' is not a number from 1 to 256");
  }
  options.concurrency = number;
  return {};
}

Status SetMetricsFile(Options& options, const std::string& text) {
  if (text.empty() || text.ends_with('/')) return Fail(ErrorCode::kInvalid, "'" + text + "' does not name a file");
  options.metrics_file = text;
  return {};
}

/// Adds names, which commas may separate, or nothing. No names at all would mean all team spaces.
Status AddOnly(Options& options, const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    names.push_back(NameIn(std::string_view(text).substr(start, end - start)));
    if (names.back().empty()) return Fail(ErrorCode::kInvalid, "must not be empty");
    start = end + 1;
  }
  options.only.insert(options.only.end(), names.begin(), names.end());
  return {};
}

Status SetLogLevel(Options& options, const std::string& text) {
  using Pair = std::pair<std::string_view, LogLevel>;
  return SetWord(options.log_level, text,
                 std::array{Pair{"error", LogLevel::kError}, Pair{"warn", LogLevel::kWarn},
                            Pair{"info", LogLevel::kInfo}, Pair{"debug", LogLevel::kDebug}});
}

Status SetVerbose(Options& options, const std::string& text) {
  if (text == "true") options.log_level = LogLevel::kDebug;
  return {};
}

Status SetLogFormat(Options& options, const std::string& text) {
  using Pair = std::pair<std::string_view, LogFormat>;
  return SetWord(options.log_format, text,
                 std::array{Pair{"auto", LogFormat::kAuto}, Pair{"text", LogFormat::kText},
                            Pair{"json", LogFormat::kJson}, Pair{"journal", LogFormat::kJournal}});
}

Status SetColor(Options& options, const std::string& text) {
  using Pair = std::pair<std::string_view, ColorMode>;
  return SetWord(
      options.color, text,
      std::array{Pair{"auto", ColorMode::kAuto}, Pair{"always", ColorMode::kAlways}, Pair{"never", ColorMode::kNever}});
}

Status SetOutput(Options& options, const std::string& text) {
  using Pair = std::pair<std::string_view, OutputFormat>;
  return SetWord(options.output, text,
                 std::array{Pair{"text", OutputFormat::kText}, Pair{"json", OutputFormat::kJson}});
}

Status SetOverviewOutput(Options& options, const std::string& text) {
  using Pair = std::pair<std::string_view, OutputFormat>;
  return SetWord(options.output, text,
                 std::array{Pair{"text", OutputFormat::kText}, Pair{"wide", OutputFormat::kWide},
                            Pair{"json", OutputFormat::kJson}, Pair{"yaml", OutputFormat::kYaml},
                            Pair{"name", OutputFormat::kName}});
}

Status SetExplanationOutput(Options& options, const std::string& text) {
  using Pair = std::pair<std::string_view, OutputFormat>;
  return SetWord(options.output, text,
                 std::array{Pair{"text", OutputFormat::kText}, Pair{"json", OutputFormat::kJson},
                            Pair{"yaml", OutputFormat::kYaml}});
}

Status SetInstallation(Options& options, const std::string& text) {
  if (!IsTeamSpaceName(text)) {
    return Fail(ErrorCode::kInvalid, "'" + text + "' is not a name of lowercase letters, digits and '-', 58 at most");
  }
  options.installation = text;
  return {};
}

Status SetServiceAccount(Options& options, const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string space = text.substr(0, colon);
  // A namespace is a DNS label, a service account may have dots.
  const bool named = colon < text.size() && IsObjectName(space) && space.find('.') == std::string::npos &&
                     IsObjectName(text.substr(colon + 1));
  if (!named) return Fail(ErrorCode::kInvalid, "'" + text + "' is not of the form NAMESPACE:NAME");
  options.rbac_service_account = text;
  return {};
}

constexpr std::array kFlags{
    Flag{"once", "", FlagKind::kSwitch, "", "false", kForReconcile, true, "one pass, then exit",
         &SetSwitch<&Options::once>},
    Flag{"diff", "", FlagKind::kSwitch, "", "false", kForReconcile, true,
         "print what one pass would change, and why; write nothing (implies --once)", &SetSwitch<&Options::diff>},
    Flag{"server", "", FlagKind::kSwitch, "", "false", kForReconcile, true,
         "with --diff: ask the server about each change by a dry run, so that what it would refuse shows; also "
         "--dry-run=server",
         &SetSwitch<&Options::server>},
    Flag{"kubeconfig", "", FlagKind::kValue, "FILE", "", kForCluster, false,
         "which cluster; else $KUBECONFIG, $CREDENTIALS_DIRECTORY/kubeconfig, ~/.kube/config, a pod's "
         "service account, "
         "/etc/rancher/k3s/k3s.yaml",
         &SetText<&Options::kubeconfig>},
    Flag{"context", "", FlagKind::kValue, "NAME", "", kForCluster, false,
         "context of the kubeconfig; else its current one", &SetText<&Options::context>},
    Flag{"archive", "", FlagKind::kValue, "DIR", "", kForReconcile | kForCheck | kForExplain, false,
         "where deleted team spaces are kept; else $STATE_DIRECTORY/archive, /var/lib/cnpa-op/archive (root), "
         "~/.local/state/cnpa-op/archive",
         &SetText<&Options::archive>},
    Flag{"interval", "", FlagKind::kValue, "DUR", "3s", kForReconcile, false,
         "in the loop: from the end of a pass to the start of the next", &SetDuration<&Options::interval, 100>},
    Flag{"linger", "", FlagKind::kValue, "DUR", "0s", kForReconcile, false,
         "after a pass that had nothing to write: how long at most to watch for something to do, and then to do it at "
         "once; also --watch",
         &SetDuration<&Options::linger, 0>},
    Flag{"timeout", "", FlagKind::kValue, "DUR", "60s", kForCluster, false,
         "of a whole run; when it is over nothing new is begun", &SetDuration<&Options::timeout>},
    Flag{"request-timeout", "", FlagKind::kValue, "DUR", "15s", kForCluster, false,
         "of one request; lists may take the pass's", &SetDuration<&Options::request_timeout>},
    Flag{"concurrency", "", FlagKind::kValue, "N", "32", kForReconcile, false, "requests in flight, 1 to 256",
         &SetConcurrency},
    Flag{"metrics-file", "", FlagKind::kValue, "FILE", "", kForReconcile, false,
         "written anew after every pass, for the textfile collector of Prometheus' node_exporter; else none",
         &SetMetricsFile},
    Flag{"allow-crd-deletion", "", FlagKind::kSwitch, "", "false", kForReconcile, false,
         "finalize team spaces although their CRD is being deleted", &SetSwitch<&Options::allow_crd_deletion>},
    Flag{"manage-crd", "", FlagKind::kSwitch, "", "false", kForReconcile | kForRbac, false,
         "keep the TeamSpace CRD as this version knows it: create it, upgrade an older one; a newer one is left alone",
         &SetSwitch<&Options::manage_crd>},
    Flag{"installation", "", FlagKind::kValue, "NAME", "default", kForReconcile, false,
         "name of this installation, which labels what it creates beside team spaces; two never touch each other's",
         &SetInstallation},
    Flag{"no-events", "", FlagKind::kSwitch, "", "false", kForReconcile | kForCheck, false,
         "send no Kubernetes events for what is repaired, refused or archived", &SetSwitch<&Options::no_events>},
    Flag{"only", "", FlagKind::kList, "NAME,...", "", kForReconcile, false,
         "touch these team spaces only, separated by commas; may be repeated", &AddOnly},
    Flag{"user", "", FlagKind::kValue, "NAME", "cnpa-op", kForRbac, true, "who gets the rights",
         &SetText<&Options::rbac_user>},
    Flag{"serviceaccount", "", FlagKind::kValue, "NS:NAME", "", kForRbac, true, "a service account gets the rights",
         &SetServiceAccount},
    Flag{"openshift", "", FlagKind::kSwitch, "", "false", kForRbac, true,
         "adds what the admission plugin OwnerReferencesPermissionEnforcement asks for",
         &SetSwitch<&Options::openshift>},
    Flag{"config-only", "", FlagKind::kSwitch, "", "false", kForCheck, true,
         "check variables and the configuration file, and nothing else", &SetSwitch<&Options::config_only>},
    Flag{"output", "o", FlagKind::kValue, "text|json", "text", kForReconcile, true,
         "format of the plan of --diff, and of the report of --once: text goes to standard error, json is one document "
         "on "
         "standard output",
         &SetOutput},
    Flag{"output", "o", FlagKind::kValue, "text|json", "text", kForCheck | kForVersion, true,
         "format of the answer; json is one document", &SetOutput},
    Flag{"output", "o", FlagKind::kValue, "FORMAT", "text", kForGet, true, "text, wide, json, yaml or name",
         &SetOverviewOutput},
    Flag{"output", "o", FlagKind::kValue, "FORMAT", "text", kForExplain, true, "text, json or yaml",
         &SetExplanationOutput},
    Flag{"log-level", "", FlagKind::kValue, "LEVEL", "info", kForAll, false,
         "error, warn, info or debug; debug shows each request", &SetLogLevel},
    Flag{"verbose", "v", FlagKind::kSwitch, "", "false", kForAll, true, "the same as --log-level debug", &SetVerbose},
    Flag{"log-format", "", FlagKind::kValue, "FORMAT", "auto", kForAll, false, "auto, text, json or journal",
         &SetLogFormat},
    Flag{"color", "", FlagKind::kValue, "WHEN", "auto", kForAll, false, "auto, always or never; NO_COLOR is honoured",
         &SetColor},
};

}  // namespace

std::span<const Flag> Flags() {
  return kFlags;
}

std::string EnvironmentName(const Flag& flag) {
  std::string name = "CNPA_OP_";
  for (const char c : flag.name) name += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  return name;
}

}  // namespace cnpa
