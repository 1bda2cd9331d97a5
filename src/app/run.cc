// SPDX-License-Identifier: Apache-2.0
#include "app/run.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include <fmt/core.h>

#include "app/manifests.h"
#include "app/output.h"
#include "app/reconcile.h"
#include "app/session.h"
#include "app/stop.h"
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
    return AfterSignals(session.error().code == ErrorCode::kInvalid ? ExitCode::kUsage : ExitCode::kUnreadable);
  }
  const Connection& connection = session->connection;
  for (const std::string& warning : connection.warnings) log.Warn(warning);
  Archive archive(options.archive, options.archive_is_default ? Archive::Make::kParentsToo : Archive::Make::kLastOnly);
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
