// SPDX-License-Identifier: Apache-2.0
//
// The loop: starts one pass after the other, each as a process of its own, and tells what they say. It knows nothing
// of Kubernetes and keeps nothing of the cluster: only what went wrong and was told.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "app/exit_code.h"
#include "app/log.h"
#include "app/metrics.h"
#include "app/pass_report.h"
#include "app/troubles.h"
#include "base/child_task.h"
#include "base/service_manager.h"

namespace cnpa {

struct LoopSettings {
  std::chrono::milliseconds interval{0};      ///< From the end of a pass to the start of the next.
  std::chrono::milliseconds pass_limit{0};    ///< A pass that has not ended then is killed.
  std::chrono::milliseconds linger_limit{0};  ///< One that lingers, then.
};

/// What a pass is told by the one before.
struct PassHint {
  bool may_linger = true;
  std::string team_space;  ///< The only one for which there is something to do, as far as is known; empty: look at all.
};

/// What the supervisor is told of the passes that it starts.
struct LoopWork {
  /// Makes a pass, in the child; writes PassMessages to `report_fd`, and returns the exit code.
  std::function<int(int report_fd, const PassHint& hint)> pass;

  /// Reads the configuration anew; what it returns, and what `pass` does from then on, follows it.
  ///
  /// Errors:  what is wrong with it: then nothing has changed.
  std::function<Result<LoopSettings>()> reload;

  /// Counts a pass that is over.
  ///
  /// Errors:  kMalformed: what was counted before is lost; any other: why the count is not written.
  std::function<Status(const FinishedPass&)> count = [](const FinishedPass& /*pass*/) { return Status(); };
};

class Supervisor {
 public:
  Supervisor(LoopSettings settings, LoopWork work, const Log& log, ServiceManager manager);

  /// Runs until SIGTERM or SIGINT, or until something makes it end itself.
  ///
  /// Returns kConverged after a signal, kUsage when the first pass could not use its credentials, kUnreadable when the
  /// service manager has newer ones.
  /// Requires: it has the process for itself: its signals and its children.
  ExitCode Run();

 private:
  using Clock = std::chrono::steady_clock;

  void BlockSignals();
  void Wait();
  Clock::time_point NextEvent() const;
  void HandleSignals();
  void HandleSignal(int signal);
  void StartPass();
  void ReadReport(int most_reads);
  void HandleLine(std::string_view line);
  void Tell(const LogEntry& entry);
  void Reap();
  void OnProcessOver(int status);
  void OnPassOver(PassEnd end, const PassEnded& ended);
  void OnLinger();
  void WakePass();
  void OnWake(int status);
  void DoWithoutLingering(LogLevel level, std::string text, std::string trouble);
  void CountPass(const FinishedPass& pass);
  void CheckDeadlines();
  void Reload();
  void TellState() const;
  void BecomeReady();
  void TellReady();
  void CheckStop(Clock::time_point now);
  std::string StatusText() const;

  LoopSettings settings_;
  LoopWork work_;
  const Log& log_;
  ServiceManager manager_;
  UniqueFd signals_;
  Troubles troubles_;

  std::optional<ChildTask> pass_;
  Clock::time_point pass_started_;
  std::string unread_;                 ///< Of the running pass's report: the beginning of a line.
  std::string failure_;                ///< What the running pass failed with as a whole.
  std::optional<PassEnded> ended_;     ///< What the running pass said of its end.
  std::optional<Wake> wake_;           ///< What it said when it had lingered.
  std::string team_space_;             ///< The only one that the next pass is to look at.
  Clock::time_point limit_;            ///< When the running pass is killed.
  Clock::time_point may_linger_from_;  ///< No pass does before: one may not, or came to a bad end.
  bool overdue_ = false;               ///< The running pass was killed since its time was over.
  bool lingers_ = false;               ///< The pass is over; its process waits for something to do.
  bool told_to_wake_ = false;          ///< By us.
  bool forbidden_ = false;             ///< It was the last one that lingered to be told that it may not watch.
  bool woken_ = false;                 ///< The running pass follows one that has found something to do.
  bool false_alarm_ = false;           ///< And the last one of these had nothing to write.

  Clock::time_point started_;
  Clock::time_point next_pass_;
  Clock::time_point next_ping_;
  std::chrono::milliseconds last_took_{0};
  std::optional<Clock::time_point> last_end_;
  std::optional<Clock::time_point> last_write_;  ///< The end of the last pass that wrote.
  std::string last_failure_;
  std::string summary_;             ///< Of the last pass that could read the cluster.
  std::uint64_t passes_ = 0;        ///< That have ended.
  int unreadable_ = 0;              ///< How many in a row, until now.
  bool reloaded_ = false;           ///< While the running pass was at work.
  bool ready_ = false;              ///< The first pass has read the cluster, or has failed.
  bool ready_untold_ = false;       ///< The service manager must still be told so.
  bool loaded_by_systemd_ = false;  ///< The kubeconfig of the last pass: a copy of the start.
  bool stopping_ = false;
  bool stop_overdue_ = false;  ///< The pass has been killed since it did not end.
  Clock::time_point stop_limit_;
  std::optional<ExitCode> exit_code_;
};

}  // namespace cnpa
