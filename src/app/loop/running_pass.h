// SPDX-License-Identifier: Apache-2.0
//
// The process of one pass, from its start to its end: what it says, and by when it has to be gone.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "app/loop/pass_report.h"
#include "base/child_task.h"
#include "base/result.h"

namespace cnpa {

class RunningPass {
 public:
  using Clock = std::chrono::steady_clock;
  using OnMessage = std::function<void(const Result<PassMessage>&)>;

  /// What became of a pass whose time is over.
  enum class Due {
    kNothing,  ///< Its time is not over, or nothing has changed since.
    kKilled,   ///< It was killed just now.
    kUndying,  ///< It was killed some time ago and is still there: it waits in the kernel, for a disk that is away.
  };

  /// Starts `function` as ChildTask does, to be over within `limit`; once killed, to be gone within `patience`.
  ///
  /// Errors:  as ChildTask::Start().
  static Result<RunningPass> Start(const ChildTask::Function& function, std::chrono::milliseconds limit,
                                   std::chrono::milliseconds patience);

  pid_t pid() const { return task_.pid(); }
  int report_fd() const { return task_.report_fd(); }
  Clock::time_point started() const { return started_; }

  /// Hands over what it has said and nobody has read, as far as `most_reads` go: what never stops talking must come to
  /// its deadline. kMalformed is handed over too.
  void Read(int most_reads, const OnMessage& on_message);

  /// From now on it has another `limit`, counted from now.
  void SetLimit(std::chrono::milliseconds limit) { limit_ = Clock::now() + limit; }

  /// As SetLimit(), but never a longer one, and with less patience for the kernel.
  void Hurry(std::chrono::milliseconds limit);

  /// Returns when CheckLimit() is to be called next.
  Clock::time_point next_event() const;

  /// Sees to its limit.
  Due CheckLimit();

  /// Sends a signal to it, and not to programs that it started.
  void Signal(int signal) const { task_.Signal(signal); }

  /// Ends it at once, and the rest of its process group.
  void Kill() const { task_.Kill(); }

  /// Says that it was waited for, or that nobody will: from then on nothing is sent to it.
  void LetGo() { task_.SetReaped(); }

 private:
  RunningPass(ChildTask task, Clock::time_point limit, std::chrono::milliseconds patience)
      : task_(std::move(task)), limit_(limit), patience_(patience) {}

  ChildTask task_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point limit_;  ///< When it is killed; once it was, when it is given up.
  std::chrono::milliseconds patience_;
  bool killed_ = false;
  bool given_up_ = false;
  std::string unread_;  ///< The beginning of a line.
};

}  // namespace cnpa
