// SPDX-License-Identifier: Apache-2.0
#include "app/run.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include <fmt/core.h>

#include "app/manifests.h"
#include "app/output.h"
#include "app/reconcile.h"
#include "app/stop.h"
#include "base/version.h"
#include "kube/certificate.h"
#include "kube/curl_transport.h"
#include "kube/json_writer.h"
#include "kube/kubeconfig.h"

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

std::string TraceLine(const RequestTrace& trace) {
  const std::string outcome = trace.code != 0 ? std::to_string(trace.code) : trace.error;
  return fmt::format("{} {} -> {}, {} bytes, {} ms", MethodName(trace.method), trace.path, outcome, trace.bytes,
                     trace.took.count());
}

/// What `error` does not say: whose credentials were refused, and why that may be.
Error Explain(Error error, const std::string& certificate_pem, const std::string& origin) {
  if (error.code != ErrorCode::kDenied || !error.message.starts_with("unauthorized")) return error;
  const std::string validity = DescribeValidity(certificate_pem, Now());
  if (!validity.empty()) error.message += ": the client certificate " + validity + ": renew it";
  error.message += " (" + origin + ")";
  return error;
}

ExitCode RunReconcile(const Options& options) {
  const Log log(options.log_level, options.log_format);
  if (!options.once && !options.diff) {
    log.Error(
        "the loop is not built yet: run 'cnpa-op reconcile --once' again and again, from cron or a shell "
        "loop");
    return ExitCode::kUsage;
  }
  StopSignals::Install();
  KubeconfigQuery query{.file = options.kubeconfig, .context = options.context, .environment = ProcessEnvironment()};
  Result<Connection> connection = LoadConnection(query);
  if (!connection) {
    log.Error(connection.error().message);
    return ExitCode::kUsage;
  }
  if (connection->insecure_skip_tls_verify) {
    log.Warn("insecure-skip-tls-verify is set: anybody on the way can read and change what is said (" +
             connection->origin + ")");
  }
  const std::string certificate_pem = connection->certificate_pem;
  const std::string origin = connection->origin;
  TransportLimits limits{.deadline = std::chrono::steady_clock::now() + options.timeout,
                         .stall_timeout = options.request_timeout,
                         .connections = std::max(options.concurrency, 3),
                         .stop_requested = [] { return StopSignals::received() != 0; },
                         .stop_fd = StopSignals::fd()};
  CurlTransport::OnTrace on_trace;
  if (log.shows(LogLevel::kDebug)) on_trace = [&log](const RequestTrace& trace) { log.Debug(TraceLine(trace)); };
  Result<std::unique_ptr<CurlTransport>> transport =
      CurlTransport::Create(*std::move(connection), std::move(limits), std::move(on_trace));
  if (!transport) {
    log.Error(transport.error().message + " (" + origin + ")");
    return ExitCode::kUsage;
  }
  Archive archive(options.archive, options.archive_is_default ? Archive::Make::kParentsToo : Archive::Make::kLastOnly);
  const ReconcileContext context{
      .options = options,
      .log = log,
      .archive = archive,
      .now = &Now,
      .explain = [&](Error error) { return Explain(std::move(error), certificate_pem, origin); },
      .color_stdout = WantsColor(options.color, STDOUT_FILENO),
      .color_stderr = log.format() == LogFormat::kText && WantsColor(options.color, STDERR_FILENO)};
  const ExitCode code = Reconcile(**transport, context);
  if (StopSignals::received() == SIGINT) return ExitCode::kInterrupted;
  if (StopSignals::received() == SIGTERM) return ExitCode::kTerminated;
  return code;
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
