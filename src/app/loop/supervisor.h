// SPDX-License-Identifier: Apache-2.0
//
// The loop: starts one pass after the other, each as a process of its own, and tells what they say. It knows nothing
// of Kubernetes and keeps nothing of the cluster: only what went wrong and was told.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "app/cli/exit_code.h"
#include "app/loop/pass_report.h"
#include "app/loop/running_pass.h"
#include "app/loop/troubles.h"
#include "app/metrics/metrics.h"
#include "app/output/log.h"
#include "base/service_manager.h"

namespace cnpa {

struct LoopSettings {
  std::chrono::milliseconds interval{0};      ///< From the end of a pass to the start of the next.
  std::chrono::milliseconds pass_limit{0};    ///< A pass that has not ended then is killed.
  std::chrono::milliseconds linger_limit{0};  ///< One that lingers, then.
  std::chrono::milliseconds patience{2000};   ///< One that was killed and is still there then is left behind.
};

/// What a pass is told by the one before.
struct PassHint {
  bool may_linger = true;
  std::string team_space;  ///< The only one for which there is something to do, as far as is known; empty: look at all.
  bool introduce = false;  ///< None before it has read the cluster.
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
  /// Blocks the signals that Run() handles, and returns the mask that was set before. The earlier in a process, the
  /// less of its start is left in which one of them would end it.
  static sigset_t BlockSignals();

  Supervisor(LoopSettings settings, LoopWork work, const Log& log, ServiceManager manager);

  /// Runs until SIGTERM or SIGINT, or until something makes it end itself.
  ///
  /// Returns kConverged after a signal, kUsage when the first pass could not use its credentials, kUnreadable when the
  /// service manager may have newer ones.
  /// Requires: it has the process for itself: its signals and its children.
  ExitCode Run();

 private:
  using Clock = std::chrono::steady_clock;

  /// What the running pass has said, and what became of it.
  struct Heard {
    std::string failure;             ///< What it failed with as a whole.
    std::optional<PassEnded> ended;  ///< What it said of its end.
    std::optional<Wake> wake;        ///< What it said when it had lingered.
    bool overdue = false;            ///< It was killed since its time was over.
    bool lingers = false;            ///< The pass is over; its process waits for something to do.
    bool told_to_wake = false;       ///< By us.
  };

  void TakeSignals();
  void Wait();
  Clock::time_point NextEvent() const;
  void HandleSignals();
  void HandleSignal(int signal);
  bool MayStartPass() const;
  void StartPass();
  void ReadReport(int most_reads);
  void Handle(const Result<PassMessage>& message);
  void Tell(const LogEntry& entry);
  void Reap();
  void KillStrays() const;
  void OnGone(int status);
  void OnProcessOver(int status);
  void OnPassOver(PassEnd end, const PassEnded& ended);
  void OnLinger();
  void WakePass();
  void OnWake(int status);
  void OnBadEnd(const std::string& how);
  void DoWithoutLingering(LogLevel level, std::string text, std::string trouble);
  void CountPass(const FinishedPass& pass);
  void CheckDeadlines();
  void CheckPass();
  void OnOverdue();
  void LeaveBehind();
  void TellLeftBehind();
  bool EndForNewKubeconfig(const PassEnded& ended, Clock::time_point now);
  void Reload();
  void TellState() const;
  void BecomeReady();
  void TellReady();
  std::string StatusText() const;

  LoopSettings settings_;
  LoopWork work_;
  const Log& log_;
  ServiceManager manager_;
  UniqueFd signals_;
  Troubles troubles_;

  std::optional<RunningPass> pass_;
  Heard heard_;
  std::set<pid_t> left_behind_;        ///< Passes that were killed and are still there.
  std::string team_space_;             ///< The only one that the next pass is to look at.
  Clock::time_point may_linger_from_;  ///< No pass does before: one may not, or came to a bad end.
  bool forbidden_ = false;             ///< It was the last one that lingered to be told that it may not watch.
  bool woken_ = false;                 ///< The running pass follows one that has found something to do.
  bool false_alarm_ = false;           ///< And the last one of these had nothing to write.

  Clock::time_point started_;
  Clock::time_point pass_started_;  ///< The running pass, or else the last one.
  Clock::time_point next_pass_;
  Clock::time_point next_ping_;
  std::chrono::milliseconds last_took_{0};
  std::optional<Clock::time_point> last_end_;
  std::optional<Clock::time_point> last_write_;  ///< The end of the last pass that wrote.
  std::string last_failure_;
  std::string summary_;             ///< Of the last pass that could read the cluster.
  std::uint64_t passes_ = 0;        ///< That have ended.
  int unreadable_ = 0;              ///< How many in a row, until now.
  Clock::time_point unread_since_;  ///< The start of the first of the passes in a row that could read nothing.
  bool reloaded_ = false;           ///< While the running pass was at work.
  bool ready_ = false;              ///< The first pass has read the cluster, or has failed.
  bool ready_untold_ = false;       ///< The service manager must still be told so.
  bool loaded_by_systemd_ = false;  ///< The kubeconfig of the last pass: a copy of the start.
  bool stopping_ = false;
  std::optional<ExitCode> exit_code_;
};

}  // namespace cnpa
