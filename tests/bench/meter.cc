// SPDX-License-Identifier: Apache-2.0
//
// Runs a program and says what it cost: `cnpa_meter FD PROGRAM [ARGUMENT...]` writes one JSON object to descriptor FD.
// A program of its own, since the kernel counts the memory of the process that starts a program as a peak of the
// program's: a Python that did it would measure itself.
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int kNotStarted = 127;

/// Becomes the program, or ends.
[[noreturn]] void Become(char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // It must not outlive a benchmark that is ended.
  execvp(argv[0], argv);
  std::fprintf(stderr, "cnpa_meter: cannot run '%s': %s\n", argv[0], std::strerror(errno));
  _exit(kNotStarted);
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

int Measure(int descriptor, char** argv) {
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);  // Not the program's.
  const auto started = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) Become(argv);
  int status = 0;
  rusage usage{};
  while (child > 0 && wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
  if (child < 0) {
    std::perror("cnpa_meter: cannot start a process");
    return 1;
  }

  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  dprintf(descriptor, R"({"code": %d, "wall_seconds": %.6f, "cpu_seconds": %.6f, "peak_bytes": %ld})", code,
          wall.count(), Seconds(usage.ru_utime) + Seconds(usage.ru_stime), usage.ru_maxrss * 1024);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view text = argc > 2 ? argv[1] : "";
  int descriptor = -1;
  std::from_chars(text.data(), text.data() + text.size(), descriptor);
  if (descriptor < 0) {
    std::fprintf(stderr, "usage: cnpa_meter FD PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  return Measure(descriptor, argv + 2);
}
