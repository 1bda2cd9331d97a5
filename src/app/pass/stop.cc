// SPDX-License-Identifier: Apache-2.0
#include "app/pass/stop.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace cnpa {
namespace {

// A signal handler reaches nothing but globals.
volatile std::sig_atomic_t g_received = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::array<int, 2> g_pipe = {-1, -1};       // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void OnSignal(int signal) {
  const int saved = errno;
  g_received = signal;
  // The second of either kind ends the process.
  std::signal(SIGTERM, SIG_DFL);  // NOLINT(cert-err33-c)
  std::signal(SIGINT, SIG_DFL);   // NOLINT(cert-err33-c)
  const char byte = 0;
  static_cast<void>(!::write(g_pipe[1], &byte, 1));
  errno = saved;
}

}  // namespace

void StopSignals::Install() {
  if (g_pipe[0] < 0 && ::pipe2(g_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action {};
  action.sa_handler = &OnSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  // A supervisor has them blocked in the child that it starts, so that none comes before this.
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGTERM);
  sigaddset(&taken, SIGINT);
  sigprocmask(SIG_UNBLOCK, &taken, nullptr);
}

int StopSignals::received() {
  return g_received;
}

ExitCode StopSignals::After(ExitCode code) {
  if (received() == SIGINT) return ExitCode::kInterrupted;
  if (received() == SIGTERM) return ExitCode::kTerminated;
  return code;
}

int StopSignals::fd() {
  return g_pipe[0];
}

}  // namespace cnpa
