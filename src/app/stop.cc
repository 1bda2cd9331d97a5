// SPDX-License-Identifier: Apache-2.0
#include "app/stop.h"

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
  const char byte = 0;
  static_cast<void>(!::write(g_pipe[1], &byte, 1));
  errno = saved;
}

}  // namespace

void StopSignals::Install() {
  if (g_pipe[0] < 0 && ::pipe2(g_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action {};
  action.sa_handler = &OnSignal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);  // RESETHAND: the second signal ends the process.
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

int StopSignals::received() {
  return g_received;
}
int StopSignals::fd() {
  return g_pipe[0];
}

}  // namespace cnpa
