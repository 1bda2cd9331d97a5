// SPDX-License-Identifier: Apache-2.0
//
// The calls are defined here, in the test program, and so stand before those of the C library.
#include "support/failing_calls.h"

#include <cerrno>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cnpa {
namespace {

FailingCalls::Errors failing;
std::vector<std::string> synced_folders;

/// Makes the call unless it is to fail.
template <typename... Arguments>
int CallOrFail(int error_number, long number, Arguments... arguments) {
  if (error_number == 0) return static_cast<int>(::syscall(number, arguments...));
  errno = error_number;
  return -1;
}

int Sync(int fd) {
  struct stat info {};
  const bool is_folder = ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
  const int done = CallOrFail(is_folder ? failing.folder_sync : 0, SYS_fsync, fd);
  if (is_folder && done == 0) {
    std::error_code ignored;
    synced_folders.push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), ignored).string());
  }
  return done;
}

int Lock(int fd, int how) {
  return CallOrFail((how & LOCK_UN) != 0 ? 0 : failing.lock, SYS_flock, fd, how);
}

int Link(int from_fd, const char* from, int to_fd, const char* to, int flags) {
  return CallOrFail(failing.link, SYS_linkat, from_fd, from, to_fd, to, flags);
}

int Chown(int fd, uid_t owner, gid_t group) {
  return CallOrFail(failing.chown, SYS_fchown, fd, owner, group);
}

}  // namespace

FailingCalls::FailingCalls(Errors errors) {
  failing = errors;
  synced_folders.clear();
}

FailingCalls::~FailingCalls() {
  failing = {};
}

const std::vector<std::string>& FailingCalls::SyncedFolders() {
  return synced_folders;
}

}  // namespace cnpa

extern "C" {
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the names of the C library are reserved.

int fsync(int fd) {
  return cnpa::Sync(fd);
}

int flock(int fd, int how) noexcept {
  return cnpa::Lock(fd, how);
}

int linkat(int from_fd, const char* from, int to_fd, const char* to, int flags) noexcept {
  return cnpa::Link(from_fd, from, to_fd, to, flags);
}

int fchown(int fd, uid_t owner, gid_t group) noexcept {
  return cnpa::Chown(fd, owner, group);
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)
}  // extern "C"
