// SPDX-License-Identifier: Apache-2.0
//
// A function that runs in a process of its own: what it leaks or breaks goes with it.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>

#include "base/file.h"
#include "base/result.h"

namespace cnpa {

/// Move only. One that is still running when this goes is killed.
class ChildTask {
 public:
  /// Runs in the child, gets the end of a pipe to write to; returns the exit code.
  using Function = std::function<int(int report_fd)>;

  /// Starts `function` in a child of this process: in a process group of its own, named `name` (15 bytes of it for the
  /// kernel, all in a list of processes with their arguments), with /dev/null as standard input, and those signals
  /// blocked that are blocked here. It dies with us.
  ///
  /// Errors:   kUnavailable when the system gives no pipe or no process.
  /// Requires: this process has one thread.
  static Result<ChildTask> Start(const char* name, const Function& function);

  ChildTask(ChildTask&& other) noexcept;
  ChildTask& operator=(ChildTask&& other) noexcept;
  ChildTask(const ChildTask&) = delete;
  ChildTask& operator=(const ChildTask&) = delete;
  ~ChildTask();

  pid_t pid() const { return pid_; }
  int report_fd() const { return report_.get(); }

  /// Sends a signal to it, and not to programs that it started.
  void Signal(int signal) const;

  /// Ends it at once, and the rest of its process group.
  void Kill() const;

  /// Says that it was waited for: from then on nothing is sent to its number.
  void SetReaped() { pid_ = -1; }

 private:
  ChildTask(pid_t pid, UniqueFd report) : pid_(pid), report_(std::move(report)) {}

  pid_t pid_ = -1;
  UniqueFd report_;
};

/// Returns how a process ended, from waitpid()'s status: "exit code 77", "SIGSEGV".
std::string DescribeWaitStatus(int status);

}  // namespace cnpa
