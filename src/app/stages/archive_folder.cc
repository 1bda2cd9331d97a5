// SPDX-License-Identifier: Apache-2.0
//
// The folder of the archives and its lock: whether they can be made, used and trusted.
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "app/stages/archive.h"
#include "base/time.h"

namespace cnpa {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr unsigned kPermissionBits = 07777;
constexpr milliseconds kProbeWait{500};  // For a pass that just happens to write.
constexpr milliseconds kProbePause{20};

tl::unexpected<Error> FolderError(const std::string& folder, const std::string& what) {
  return Fail(ErrorCode::kInvalid, "archive folder '" + folder + "': " + what);
}

tl::unexpected<Error> NoFolder() {
  return Fail(ErrorCode::kInvalid, "no archive folder: give --archive");
}

tl::unexpected<Error> CannotMake(const std::string& folder, int error_number) {
  const std::string what = "cannot make it: " + SystemMessage(error_number);
  return FolderError(folder, error_number == ENOENT ? what + ": make its parent folder first" : what);
}

/// Returns how much of the disk is free for us, or nothing where the system does not say.
std::optional<std::uint64_t> FreeBytes(const std::string& folder) {
  struct statvfs info {};
  if (::statvfs(folder.c_str(), &info) != 0 || info.f_blocks == 0) return std::nullopt;
  const std::uint64_t blocks = ::geteuid() == 0 ? info.f_bfree : info.f_bavail;
  return blocks * info.f_frsize;
}

/// Makes what was put into the folder above `folder` durable. Where that one can't be opened, or its file system can't
/// sync it, nothing can be done.
Status SyncAbove(const std::string& folder) {
  const std::string above = FolderOf(folder);
  const UniqueFd fd(::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return {};
  const Result<bool> synced = SyncFolder(fd.get(), above);
  return synced ? Status() : tl::unexpected<Error>(synced.error());
}

/// Makes a folder and those above it that are not there.
Status MakeFolders(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0777) == 0) return SyncAbove(folder);
  const std::string above = FolderOf(folder);
  if (errno != ENOENT || above == folder) return {};  // It is there, or the folder in it will say what is wrong.
  if (Status made = MakeFolders(above); !made) return made;
  return ::mkdir(folder.c_str(), 0777) == 0 ? SyncAbove(folder) : Status();
}

}  // namespace

Status Archive::Open() {
  if (lock_) return {};
  if (folder_.empty()) return NoFolder();
  // To make a folder that is there takes a file system that can be written: on one that hangs, that would hold up each
  // pass and not only the first, which has the lock.
  if (!OpenFolder()) {
    if (Status made = MakeFolder(); !made) return made;
    if (Status opened = OpenFolder(); !opened) return opened;
  }
  return OpenLock();
}

Status Archive::MakeFolder() const {
  if (make_ == Make::kParentsToo) {
    if (Status made = MakeFolders(FolderOf(folder_)); !made) return made;
  }
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return CannotMake(folder_, errno);
  return {};
}

Status Archive::OpenFolder() {
  UniqueFd fd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return FolderError(folder_, SystemMessage(errno));
  const bool is_ours = info.st_uid == ::geteuid();
  const bool is_root = ::geteuid() == 0;
  const bool open_to_all = (info.st_mode & S_IWOTH) != 0;
  by_group_ = !is_ours && !is_root && !open_to_all && ::faccessat(fd.get(), ".", W_OK | X_OK, AT_EACCESS) == 0;
  if (!is_ours && !is_root && !by_group_) {
    const std::string owner = "belongs to another user (uid " + std::to_string(info.st_uid) + ")";
    return FolderError(folder_, open_to_all ? owner + ", and everybody may write there" : owner);
  }
  // Root may write anywhere; the files then belong to whoever the folder belongs to, who could not read them otherwise.
  if (!is_ours && is_root) access_ = {.owner = info.st_uid, .group = info.st_gid};
  // Such is a volume of a pod (fsGroup): the next one may run as another user.
  const bool is_shared = (info.st_mode & S_ISGID) != 0 && (info.st_mode & S_IWGRP) != 0 && !open_to_all;
  if (by_group_ || is_shared) {
    access_.group = info.st_gid;
    access_.mode = 0640;
  }
  fd_ = std::move(fd);
  return {};
}

/// The lock is a file that is opened for writing: NFS locks no others exclusively.
Status Archive::OpenLock() {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  UniqueFd lock(::openat(fd_.get(), kArchiveLock, kFlags));
  if (!lock && errno == ENOENT) {
    // The folder may be new, and whoever made it may not have come to this.
    if (Status synced = SyncAbove(folder_); !synced) return synced;
    lock = UniqueFd(::openat(fd_.get(), kArchiveLock, kFlags | O_CREAT, 0600));
    if (!lock) return FolderError(folder_, SystemMessage(errno));
    FileAccess access = access_;
    if (access.mode != FileAccess().mode) access.mode |= S_IWGRP;
    if (Status granted = GrantAccess(lock.get(), folder_ + "/" + kArchiveLock, access); !granted) return granted;
  }
  if (!lock)
    return FolderError(folder_, fmt::format("cannot open its lock '{}': {}", kArchiveLock, SystemMessage(errno)));
  lock_ = std::move(lock);
  return {};
}

Result<Archived> Archive::Lock() {
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) {
    busy_since_.reset();
    return Archived::kWritten;
  }
  if (IsLockMissing(errno)) {
    missing_.locks = true;
    return Archived::kWritten;
  }
  if (errno != EWOULDBLOCK) return FolderError(folder_, "cannot lock it: " + SystemMessage(errno));
  if (!busy_since_) busy_since_ = Clock::now();
  if (Clock::now() - *busy_since_ < lock_wait_) return Archived::kBusy;
  return FolderError(folder_, fmt::format("another process has held its lock for {}: see fuser -v {}/{}",
                                          FormatDuration(lock_wait_), folder_, kArchiveLock));
}

Result<MissingFeatures> Archive::ProbeFolder(Probe probe) const {
  if (probe == Probe::kWrite) return ProbeWritable(fd_.get(), folder_, access_);
  if (::faccessat(fd_.get(), ".", W_OK | X_OK, AT_EACCESS) == 0) return MissingFeatures();
  return FolderError(folder_, SystemMessage(errno));
}

/// Returns whether the lock is there and somebody else holds on to it.
bool Archive::IsHeldByOthers(Probe probe) const {
  if (probe == Probe::kLook) return false;
  const UniqueFd lock(::openat(fd_.get(), kArchiveLock, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  const auto until = Clock::now() + kProbeWait;
  while (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return false;
    if (Clock::now() > until) return true;
    std::this_thread::sleep_for(kProbePause);
  }
  return false;
}

Result<ArchiveState> Archive::Examine(Probe probe) {
  if (folder_.empty()) return NoFolder();
  struct stat info {};
  // A link that leads nowhere is there, as for mkdir.
  if (!fd_ && ::lstat(folder_.c_str(), &info) != 0 && errno == ENOENT) return ExamineAbove();
  if (Status opened = fd_ ? Status() : OpenFolder(); !opened) return tl::unexpected<Error>(std::move(opened).error());
  const Result<MissingFeatures> missing = ProbeFolder(probe);
  if (!missing) return tl::unexpected<Error>(missing.error());
  if (::fstat(fd_.get(), &info) != 0) return FolderError(folder_, SystemMessage(errno));
  return ArchiveState{.there = true,
                      .looked_at = folder_,
                      .mode = info.st_mode & kPermissionBits,
                      .foreign = access_.owner != FileAccess().owner,
                      .by_group = by_group_,
                      .busy = IsHeldByOthers(probe),
                      .free_bytes = FreeBytes(folder_),
                      .missing = *missing};
}

/// Looks at where the folder would be made, which may be further up when its parents are made too.
Result<ArchiveState> Archive::ExamineAbove() const {
  std::string above = FolderOf(folder_);
  struct stat info {};
  while (::stat(above.c_str(), &info) != 0) {
    const int error_number = errno;
    if (error_number == ENOENT && make_ == Make::kParentsToo && above != FolderOf(above)) {
      above = FolderOf(above);
      continue;
    }
    Error error = CannotMake(folder_, error_number).value();
    if (error_number == ENOENT) error.code = ErrorCode::kNotFound;
    return tl::unexpected<Error>(std::move(error));
  }
  if (!S_ISDIR(info.st_mode)) return CannotMake(folder_, ENOTDIR);
  if (::faccessat(AT_FDCWD, above.c_str(), W_OK | X_OK, AT_EACCESS) != 0) return CannotMake(folder_, errno);
  return ArchiveState{.looked_at = above, .mode = info.st_mode & kPermissionBits, .free_bytes = FreeBytes(above)};
}

}  // namespace cnpa
