// SPDX-License-Identifier: Apache-2.0
#include "app/run.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <fmt/core.h>

#include "app/check.h"
#include "app/check_render.h"
#include "app/manifests.h"
#include "app/output.h"
#include "app/reconcile.h"
#include "app/session.h"
#include "app/stop.h"
#include "app/survey.h"
#include "base/version.h"
#include "kube/curl_transport.h"
#include "kube/json_writer.h"

namespace cnpa {
namespace {

Time Now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

ExitCode PrintVersion(const Options& options) {
  if (options.output == OutputFormat::kJson) {
    JsonWriter document(JsonWriter::Layout::kIndented);
    document.Object([&document] {
      document.String("version", kVersion);
      document.String("libraries", CurlVersion());
    });
    PrintLine(document.text());
  } else {
    PrintLine(fmt::format("cnpa-op {} ({})", kVersion, CurlVersion()));
  }
  return ExitCode::kConverged;
}

bool WantsColor(ColorMode mode, int fd) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

/// What `code` is behind a stop signal: its number tells whoever sent it that it was heard.
ExitCode AfterSignals(ExitCode code) {
  if (StopSignals::received() == SIGINT) return ExitCode::kInterrupted;
  if (StopSignals::received() == SIGTERM) return ExitCode::kTerminated;
  return code;
}

Archive MakeArchive(const Options& options) {
  return Archive(options.archive, options.archive_is_default ? Archive::Make::kParentsToo : Archive::Make::kLastOnly);
}

/// What OpenSession() failed with: what is wrong with a kubeconfig is usage, what its plugin could not get is not.
ExitCode CodeFor(const Error& error) {
  return error.code == ErrorCode::kInvalid ? ExitCode::kUsage : ExitCode::kUnreadable;
}

ExitCode RunCheck(const Options& options) {
  const auto now = [] { return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()); };
  const Log log(options.log_level, options.log_format);
  const Result<Session> session = OpenSession(options, log);
  Survey survey{.archive = MakeArchive(options).Examine(), .archive_folder = options.archive, .now = now()};
  if (session) {
    survey.connection = session->connection;
    SurveyServer(*session->transport, options.request_timeout, now, survey);
  } else {
    survey.connection = tl::unexpected<Error>(session.error());
  }
  const ExitCode ended = AfterSignals(ExitCode::kConverged);
  if (ended != ExitCode::kConverged) return ended;
  const std::vector<Check> checks = ComputeChecks(survey);
  const ExitCode code = session ? ComputeCheckCode(checks) : CodeFor(session.error());
  if (options.output == OutputFormat::kJson) {
    PrintLine(CheckDocument(checks));
    return code;
  }
  const bool color = WantsColor(options.color, STDOUT_FILENO);
  for (const Check& check : checks) PrintLine(CheckLine(check, color));
  PrintLine(CheckSummary(checks));
  return code;
}

ExitCode RunReconcile(const Options& options) {
  const Log log(options.log_level, options.log_format);
  if (!options.once && !options.diff) {
    log.Error(
        "the loop is not built yet: run 'cnpa-op reconcile --once' again and again, from cron or a shell "
        "loop");
    return ExitCode::kUsage;
  }
  const Result<Session> session = OpenSession(options, log);
  if (!session) {
    log.Error(session.error().message);
    return AfterSignals(CodeFor(session.error()));
  }
  const Connection& connection = session->connection;
  for (const std::string& warning : connection.warnings) log.Warn(warning);
  if (connection.insecure_skip_tls_verify) {
    log.Warn("insecure-skip-tls-verify is set: anybody on the way can read and change what is said (" +
             connection.origin + ")");
  }
  Archive archive = MakeArchive(options);
  const ReconcileContext context{
      .options = options,
      .log = log,
      .archive = archive,
      .now = &Now,
      .explain = [&connection](Error error) { return ExplainRefusal(std::move(error), connection, Now()); },
      .color_stdout = WantsColor(options.color, STDOUT_FILENO),
      .color_stderr = log.format() == LogFormat::kText && WantsColor(options.color, STDERR_FILENO)};
  return AfterSignals(Reconcile(*session->transport, context));
}

ExitCode RunCommand(const Options& options) {
  switch (options.command) {
    case Command::kReconcile: return RunReconcile(options);
    case Command::kCheck: return RunCheck(options);
    case Command::kCrd: Print(kCrdYaml); break;
    case Command::kRbac: Print(RbacManifest(options)); break;
    case Command::kVersion: return PrintVersion(options);
    case Command::kNone: break;
  }
  return ExitCode::kConverged;
}

}  // namespace

ExitCode Run(const Options& options) {
  const ExitCode code = RunCommand(options);
  const Status flushed = FlushOutput();
  if (flushed) return code;
  Log(options.log_level, options.log_format).Error(flushed.error().message);
  return code == ExitCode::kConverged ? ExitCode::kUsage : code;
}

}  // namespace cnpa
