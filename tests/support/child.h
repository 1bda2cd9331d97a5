// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace cnpa {

/// Runs `body` in a process of its own, for what would change this one for good, and returns its exit code; -1 when it
/// did not exit.
inline int ExitCodeOfChild(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace cnpa
