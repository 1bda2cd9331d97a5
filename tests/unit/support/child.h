// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <grp.h>
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

inline constexpr uid_t kNobody = 65534;

/// The same as a user who may not write everywhere: nobody when we are root, else as we are.
inline int ExitCodeAsNobody(const std::function<int()>& body) {
  return ExitCodeOfChild([&body] {
    const bool is_root = ::geteuid() == 0;
    if (is_root && (::setgroups(0, nullptr) != 0 || ::setegid(kNobody) != 0 || ::seteuid(kNobody) != 0)) return -1;
    return body();
  });
}

}  // namespace cnpa
