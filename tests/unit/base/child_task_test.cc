// SPDX-License-Identifier: Apache-2.0
#include "base/child_task.h"

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/child.h"

namespace cnpa {
namespace {

int WaitFor(ChildTask& task) {
  int status = 0;
  REQUIRE(::waitpid(task.pid(), &status, 0) == task.pid());
  task.SetReaped();
  return status;
}

std::string Reported(const ChildTask& task) {
  std::string text;
  std::array<char, 256> buffer{};
  pollfd waiting{.fd = task.report_fd(), .events = POLLIN, .revents = 0};
  while (::poll(&waiting, 1, 5000) == 1) {
    const ssize_t count = ::read(task.report_fd(), buffer.data(), buffer.size());
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

TEST_CASE("ChildTask runs a function in a process and group of its own, under its name", "[base][child_task]") {
  Result<ChildTask> task = ChildTask::Start("a-name", [](int report_fd) {
    std::array<char, 16> name{};
    ::prctl(PR_GET_NAME, name.data());
    const std::string text = std::string(name.data()) + (::getpgid(0) == ::getpid() ? " leads" : " follows");
    return ::write(report_fd, text.data(), text.size()) > 0 ? 7 : 1;
  });
  REQUIRE(task);
  CHECK(task->pid() != ::getpid());
  CHECK(Reported(*task) == "a-name leads");
  CHECK(DescribeWaitStatus(WaitFor(*task)) == "exit code 7");
}

TEST_CASE("ChildTask has its name in place of our command line, and leaves ours alone", "[base][child_task]") {
  const auto command_line = [] {
    std::ifstream file("/proc/self/cmdline");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = command_line();
  Result<ChildTask> task = ChildTask::Start("a-name", [&command_line](int report_fd) {
    const std::string whole = command_line();
    const std::string text = whole.substr(0, whole.find('\0'));
    return ::write(report_fd, text.data(), text.size()) > 0 ? 0 : 1;
  });
  REQUIRE(task);
  CHECK(Reported(*task) == "a-name");
  WaitFor(*task);
  CHECK(command_line() == before);
}

TEST_CASE("ChildTask gives it nothing to read, and no way into what runs here", "[base][child_task]") {
  static int touched = 0;
  Result<ChildTask> task = ChildTask::Start("x", [](int /*report_fd*/) {
    ++touched;
    char byte = 0;
    return static_cast<int>(::read(STDIN_FILENO, &byte, 1));
  });
  REQUIRE(task);
  CHECK(DescribeWaitStatus(WaitFor(*task)) == "exit code 0");
  CHECK(touched == 0);
}

TEST_CASE("DescribeWaitStatus names the signal that ended a process", "[base][child_task]") {
  for (const auto& [signal, name] : {std::pair(SIGKILL, "SIGKILL"), std::pair(SIGUSR1, "SIGUSR1")}) {
    Result<ChildTask> task = ChildTask::Start("x", [](int /*report_fd*/) {
      ::pause();
      return 0;
    });
    REQUIRE(task);
    task->Signal(signal);
    CHECK(DescribeWaitStatus(WaitFor(*task)) == name);
  }
}

TEST_CASE("ChildTask ends what still runs when it goes", "[base][child_task]") {
  pid_t pid = 0;
  {
    Result<ChildTask> task = ChildTask::Start("x", [](int /*report_fd*/) {
      ::pause();
      return 0;
    });
    REQUIRE(task);
    pid = task->pid();
    CHECK(::kill(pid, 0) == 0);
  }
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("ChildTask dies with the process that started it", "[base][child_task]") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  // The writing end stays open in the grandchild, as long as that lives.
  ExitCodeOfChild([&ends] {
    ::close(ends[0]);
    static Result<ChildTask> task = ChildTask::Start("x", [](int /*report_fd*/) {
      ::pause();
      return 0;
    });
    return 0;
  });
  ::close(ends[1]);
  pollfd waiting{.fd = ends[0], .events = POLLIN, .revents = 0};
  CHECK(::poll(&waiting, 1, 10000) == 1);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 0);
  ::close(ends[0]);
}

}  // namespace
}  // namespace cnpa
