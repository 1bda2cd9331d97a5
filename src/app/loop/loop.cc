// SPDX-License-Identifier: Apache-2.0
#include "app/loop/loop.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "app/loop/pass_report.h"
#include "app/loop/supervisor.h"
#include "app/metrics/metrics_file.h"
#include "app/pass/pass.h"
#include "app/pass/stop.h"
#include "app/render/render.h"
#include "base/memory.h"
#include "base/time.h"

namespace cnpa {
namespace {

// How long a pass may take after --timeout, which it keeps by itself unless it hangs.
constexpr std::chrono::seconds kTimeToEnd{10};

LoopSettings SettingsOf(const Options& options) {
  return {.interval = options.interval,
          .pass_limit = options.timeout + kTimeToEnd,
          .linger_limit = options.linger + kTimeToEnd};
}

/// The reader may have gone: then this process is about to be killed, too.
void Report(int fd, const PassMessage& message) {
  const std::string line = EncodePassMessage(message);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t count = ::write(fd, rest.data(), rest.size());
    if (count <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

Looked HowMuchWasLookedAt(const PassOutcome& outcome) {
  if (!outcome.totals) return Looked::kAtNothing;
  return outcome.totals->left == 0 && !outcome.partial ? Looked::kAtAll : Looked::kAtSome;
}

PassEnded EndOf(const PassResult& result) {
  const PassOutcome& outcome = result.outcome;
  return {.code = outcome.code,
          .looked = HowMuchWasLookedAt(outcome),
          .unauthorized = outcome.unauthorized,
          .loaded_by_systemd = result.loaded_by_systemd,
          .summary = outcome.totals && !outcome.partial ? StateSummary(*outcome.totals) : std::string(),
          .numbers = outcome.numbers};
}

/// Tells who watches a terminal what was started: as long as there is nothing to do, nothing else is said.
void Introduce(const Log& log, const Options& options, const PassResult& result) {
  const std::string summary = EndOf(result).summary;
  if (summary.empty() || !log.on_terminal() || StopSignals::received() != 0) return;
  const bool lingers = options.linger.count() > 0;
  log.Info(fmt::format("{}: {}; a pass {} {}", result.cluster, summary,
                       lingers ? "as soon as there is something to do, or every" : "every",
                       FormatDuration(lingers ? options.linger : options.interval)));
}

/// Runs in the child.
int MakeReportedPass(Options options, LogFormat format, int report_fd, const PassHint& hint) {
  if (!hint.may_linger) options.linger = std::chrono::milliseconds(0);
  StopSignals::Install();
  const Log log(options.log_level, format, [report_fd](const LogEntry& entry) { Report(report_fd, entry); });
  const auto report_end = [&](const PassResult& ended) {
    if (hint.introduce) Introduce(log, options, ended);
    Report(report_fd, EndOf(ended));
  };
  const PassResult result = MakePass(options, log,
                                     {.in_loop = true,
                                      .team_space = hint.team_space,
                                      .on_observed = [report_fd] { Report(report_fd, PassObserved{}); },
                                      .on_linger =
                                          [&](const PassResult& quiet) {
                                            report_end(quiet);
                                            Report(report_fd, PassLingers{});
                                          }});
  if (result.outcome.wake) {
    Report(report_fd, *result.outcome.wake);
  } else {
    report_end(result);
  }
  return static_cast<int>(result.outcome.code);
}

/// Takes what the service manager told us out of the environment: it is not meant for our children.
ServiceManager TakeServiceManager() {
  ServiceManager manager = ServiceManager::Find(ProcessEnvironment(), ::getpid());
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  return manager;
}

Log MakeLog(const Options& options) {
  Log log(options.log_level, options.log_format);
  log.SendFields();
  log.ShowTimes();
  return log;
}

}  // namespace

ExitCode RunLoop(Options options, const std::function<Result<Options>()>& reload) {
  Log log = MakeLog(options);
  MetricsFile metrics(options.metrics_file);
  const LoopWork work{
      .pass = [&](int report_fd,
                  const PassHint& hint) { return MakeReportedPass(options, log.format(), report_fd, hint); },
      .reload = [&]() -> Result<LoopSettings> {
        Result<Options> fresh = reload();
        if (!fresh) return tl::unexpected<Error>(std::move(fresh).error());
        options = *std::move(fresh);
        log = MakeLog(options);
        ReleaseStartupMemory();
        if (options.metrics_file != metrics.path()) metrics = MetricsFile(options.metrics_file);
        return SettingsOf(options);
      },
      .count = [&metrics](const FinishedPass& pass) { return metrics.Add(pass); }};
  ReleaseStartupMemory();
  return Supervisor(SettingsOf(options), work, log, TakeServiceManager()).Run();
}

}  // namespace cnpa
