// SPDX-License-Identifier: Apache-2.0
#include "app/commands/run.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "app/check/check.h"
#include "app/check/check_render.h"
#include "app/check/checks.h"
#include "app/check/survey.h"
#include "app/commands/explain.h"
#include "app/commands/get.h"
#include "app/commands/manifests.h"
#include "app/loop/loop.h"
#include "app/metrics/metrics_file.h"
#include "app/output/output.h"
#include "app/pass/pass.h"
#include "app/pass/session.h"
#include "app/pass/stop.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/version.h"
#include "kube/http/curl_transport.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

/// Returns the names and versions of the libraries of CurlVersion().
std::vector<std::pair<std::string, std::string>> LibraryVersions() {
  std::vector<std::pair<std::string, std::string>> libraries;
  std::istringstream texts(CurlVersion());
  for (std::string text; std::getline(texts >> std::ws, text, ',');) {
    const std::size_t name_end = std::min(text.find_first_of(" /"), text.size() - 1);
    libraries.emplace_back(text.substr(0, name_end), text.substr(name_end + 1));
  }
  return libraries;
}

ExitCode PrintVersion(const Options& options) {
  if (options.output == OutputFormat::kJson) {
    JsonWriter document(JsonWriter::Layout::kIndented);
    document.Object([&document] {
      document.String("version", kVersion);
      document.Object("libraries", [&document] {
        for (const auto& [name, version] : LibraryVersions()) document.String(name, version);
      });
    });
    PrintLine(document.text());
  } else {
    PrintLine(fmt::format("cnpa-op {} ({})", kVersion, CurlVersion()));
  }
  return ExitCode::kConverged;
}

void PrintUnit(const Options& options) {
  const std::string path = OwnPath();
  if (const std::string why = WhyUnitCannotRun(path); !why.empty()) {
    Log(options.log_level, options.log_format).Warn(why);
  }
  Print(UnitManifest(path));
}

void PrintChecks(const std::vector<Check>& checks, const Options& options) {
  if (options.output == OutputFormat::kJson) return PrintLine(CheckDocument(checks));
  const ViewForm form = FormOf(options.color, STDOUT_FILENO);
  for (const Check& check : checks) {
    for (const std::string& line : CheckLines(check, form)) PrintLine(line);
  }
}

ExitCode RunCheck(const Options& options) {
  if (options.config_only) {
    // One that is wrong has been refused by now.
    PrintChecks({{.kind = CheckKind::kConfig, .detail = "variables and the configuration file can be used"}}, options);
    return ExitCode::kConverged;
  }
  const auto now = [] { return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()); };
  const Log log(options.log_level, options.log_format);
  const Result<Session> session = OpenSession(options, log);
  Survey survey{.with_events = !options.no_events,
                .archive = MakeArchive(options).Examine(),
                .archive_folder = options.archive,
                .now = now()};
  if (session) {
    survey.connection = session->connection;
    SurveyServer(*session->transport, options.request_timeout, now, survey);
  } else {
    survey.connection = tl::unexpected<Error>(session.error());
  }
  const ExitCode ended = StopSignals::After(ExitCode::kConverged);
  if (ended != ExitCode::kConverged) return ended;
  const std::vector<Check> checks = ComputeChecks(survey);
  const ExitCode code = session ? ComputeCheckCode(checks) : CodeForSession(session.error());
  PrintChecks(checks, options);
  if (options.output != OutputFormat::kJson) PrintLine(CheckSummary(checks));
  return code;
}

/// Makes one pass, and counts it unless it is a dry run. What becomes of the count changes no exit code.
ExitCode MakeCountedPass(const Options& options) {
  const Log log(options.log_level, options.log_format);
  const auto started = std::chrono::steady_clock::now();
  const auto count = [&](const PassOutcome& outcome) {
    const auto took = std::chrono::steady_clock::now() - started;
    const Status counted = MetricsFile(options.metrics_file)
                               .Add({.end = PassEndOf(outcome.code),
                                     .took = std::chrono::duration_cast<std::chrono::microseconds>(took),
                                     .ended_at = Now(),
                                     .numbers = outcome.numbers});
    if (!counted) log.Warn(counted.error().message);
  };
  PassSetting setting;
  // A pass that lingers is over before.
  setting.on_linger = [&count](const PassResult& result) { count(result.outcome); };
  const PassOutcome outcome = MakePass(options, log, setting).outcome;
  if (!options.diff && !outcome.wake) count(outcome);
  return outcome.code;
}

ExitCode RunReconcile(const Options& options, const Reload& reload) {
  if (options.server && !options.diff) {
    Log(options.log_level, options.log_format)
        .Error("--server: it is the changes of --diff that the server is asked about: add --diff");
    return ExitCode::kUsage;
  }
  if (options.loops()) {
    if (options.output == OutputFormat::kText) return RunLoop(options, reload);
    Log(options.log_level, options.log_format)
        .Error("-o json: the loop has no end that a document could tell of: add --once or --diff");
    return ExitCode::kUsage;
  }
  return MakeCountedPass(options);
}

ExitCode RunCommand(const Options& options, const Reload& reload) {
  switch (options.command) {
    case Command::kReconcile: return RunReconcile(options, reload);
    case Command::kGet: return RunGet(options, Log(options.log_level, options.log_format));
    case Command::kExplain: return RunExplain(options, Log(options.log_level, options.log_format));
    case Command::kCheck: return RunCheck(options);
    case Command::kCrd: Print(kCrdYaml); break;
    case Command::kRbac: Print(RbacManifest(options)); break;
    case Command::kUnit: PrintUnit(options); break;
    case Command::kVersion: return PrintVersion(options);
    case Command::kHelp:
    case Command::kNone: break;
  }
  return ExitCode::kConverged;
}

}  // namespace

ExitCode Run(const Options& options, const Reload& reload) {
  const ExitCode code = RunCommand(options, reload);
  const Status flushed = FlushOutput();
  if (flushed) return code;
  Log(options.log_level, options.log_format).Error(flushed.error().message);
  return code == ExitCode::kConverged ? ExitCode::kUsage : code;
}

}  // namespace cnpa
