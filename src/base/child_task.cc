// SPDX-License-Identifier: Apache-2.0
#include "base/child_task.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace cnpa {
namespace {

/// Has ps and systemctl show `title` in place of the parent's command line, as far as there is room.
void SetTitle(std::string_view title) {
  std::ifstream file("/proc/self/cmdline");
  const std::string arguments{std::istreambuf_iterator<char>(file), {}};
  // The C library keeps where the first argument begins; behind it come the others, without a gap.
  char* const begin = program_invocation_name;
  if (arguments.size() <= title.size() || !arguments.starts_with(begin)) return;
  std::memset(begin, 0, arguments.size());
  std::memcpy(begin, title.data(), title.size());
}

[[noreturn]] void Become(const char* name, const ChildTask::Function& function, int report_fd, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, name);
  SetTitle(name);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  const int code = function(report_fd);
  std::fflush(nullptr);
  ::_exit(code);  // What the parent had for its own end is the parent's.
}

}  // namespace

Result<ChildTask> ChildTask::Start(const char* name, const Function& function) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Fail(ErrorCode::kUnavailable, "cannot make a pipe: " + SystemMessage(errno));
  }
  UniqueFd read(ends[0]);
  UniqueFd write(ends[1]);
  ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
  std::fflush(nullptr);  // Or the child would write it too.
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return Fail(ErrorCode::kUnavailable, "cannot start a process: " + SystemMessage(errno));
  if (pid == 0) Become(name, function, write.get(), parent);
  ::setpgid(pid, pid);  // As the child does: whoever is first.
  return ChildTask(pid, std::move(read));
}

ChildTask::ChildTask(ChildTask&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), report_(std::move(other.report_)) {}

ChildTask& ChildTask::operator=(ChildTask&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(report_, other.report_);
  return *this;
}

ChildTask::~ChildTask() {
  if (pid_ <= 0) return;
  Kill();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ChildTask::Signal(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

void ChildTask::Kill() const {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
}

std::string DescribeWaitStatus(int status) {
  if (WIFEXITED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const char* abbreviation = ::sigabbrev_np(signal);
  return abbreviation != nullptr ? std::string("SIG") + abbreviation : "signal " + std::to_string(signal);
}

}  // namespace cnpa
