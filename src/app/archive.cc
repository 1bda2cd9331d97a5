// SPDX-License-Identifier: Apache-2.0
#include "app/archive.h"

#include <cerrno>
#include <chrono>
#include <climits>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <fmt/core.h>

#include "kube/codec.h"

namespace cnpa {
namespace {

constexpr std::size_t kLongestName = 150;
constexpr std::size_t kKeptOfLongName = 100;
constexpr int kMostOfOneUid = 100;
constexpr unsigned kPermissionBits = 07777;
constexpr std::size_t kLargestArchiveBytes = std::size_t{1} << 20U;

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

std::string KeptFileName(const std::string& name, const std::string& uid) {
  return fmt::format("{}.{}.json", name, uid);
}

bool IsNameTooLong(const std::string& file) {
  return file.size() > NAME_MAX;
}

bool SameFile(int folder_fd, const std::string& left, const std::string& right) {
  struct stat left_info {};
  struct stat right_info {};
  return ::fstatat(folder_fd, left.c_str(), &left_info, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstatat(folder_fd, right.c_str(), &right_info, AT_SYMLINK_NOFOLLOW) == 0 &&
         left_info.st_ino == right_info.st_ino;
}

/// Keeps other passes out of the folder while it lives, so that looking and writing are one step.
class FolderLock {
 public:
  explicit FolderLock(int fd) : fd_(fd) {
    constexpr std::chrono::milliseconds kPause{10};
    for (int attempt = 0; attempt < 500 && !held_; ++attempt) {
      held_ = ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
      if (!held_ && errno != EWOULDBLOCK) break;
      if (!held_) std::this_thread::sleep_for(kPause);
    }
  }
  ~FolderLock() { ::flock(fd_, LOCK_UN); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  FolderLock(FolderLock&&) = delete;
  FolderLock& operator=(FolderLock&&) = delete;

  bool held() const { return held_; }

 private:
  int fd_;
  bool held_ = false;
};

}  // namespace

std::string ArchiveFileName(const std::string& name, const std::string& uid) {
  return name.size() > kLongestName ? KeptFileName(name.substr(0, kKeptOfLongName), uid) : name + ".json";
}

std::string Archive::PathOf(const WriteArchive& record) const {
  return folder_ + "/" + ArchiveFileName(record.name, record.uid);
}

Status Archive::Open() {
  if (fd_) return {};
  if (folder_.empty()) return NoFolder();
  if (make_ == Make::kParentsToo) {
    std::error_code ignored;  // The mkdir below says what is wrong.
    std::filesystem::create_directories(FolderOf(folder_), ignored);
  }
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return CannotMake(folder_, errno);
  return OpenFolder();
}

Status Archive::OpenFolder() {
  UniqueFd fd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return FolderError(folder_, SystemMessage(errno));
  if (info.st_uid != ::geteuid()) {
    // Root may write anywhere; the files then belong to whoever the folder belongs to, who could not read
    // them otherwise.
    if (::geteuid() != 0) {
      return FolderError(folder_, "belongs to another user (uid " + std::to_string(info.st_uid) + ")");
    }
    owner_ = info.st_uid;
    group_ = info.st_gid;
  }
  fd_ = std::move(fd);
  return {};
}

Status Archive::ProbeFolder(Probe probe) const {
  if (probe == Probe::kWrite) return ProbeWritable(fd_.get(), folder_, owner_, group_);
  if (::faccessat(fd_.get(), ".", W_OK | X_OK, AT_EACCESS) == 0) return {};
  return FolderError(folder_, SystemMessage(errno));
}

Result<ArchiveState> Archive::Examine(Probe probe) {
  if (folder_.empty()) return NoFolder();
  struct stat info {};
  // A link that leads nowhere is there, as for mkdir.
  if (!fd_ && ::lstat(folder_.c_str(), &info) != 0 && errno == ENOENT) return ExamineAbove();
  if (Status opened = fd_ ? Status() : OpenFolder(); !opened) return tl::unexpected<Error>(std::move(opened).error());
  if (Status probed = ProbeFolder(probe); !probed) {
    return tl::unexpected<Error>(std::move(probed).error());
  }
  if (::fstat(fd_.get(), &info) != 0) return FolderError(folder_, SystemMessage(errno));
  return ArchiveState{.there = true,
                      .looked_at = folder_,
                      .mode = info.st_mode & kPermissionBits,
                      .foreign = owner_ != static_cast<uid_t>(-1),
                      .free_bytes = FreeBytes(folder_)};
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
  return ArchiveState{.there = false,
                      .looked_at = above,
                      .mode = info.st_mode & kPermissionBits,
                      .foreign = false,
                      .free_bytes = FreeBytes(above)};
}

Status Archive::Write(const WriteArchive& record) {
  if (Status opened = Open(); !opened) return opened;
  const FolderLock lock(fd_.get());
  if (!lock.held()) return FolderError(folder_, "another pass holds it for too long");
  if (!swept_) RemoveTemporaries(fd_.get());
  swept_ = true;
  const std::string file = ArchiveFileName(record.name, record.uid);
  for (const std::string& place : {KeptFileName(record.name, record.uid), file}) {
    const Result<std::string> there = ReadFileAt(fd_.get(), folder_, place, kLargestArchiveBytes);
    if (!there && there.error().code == ErrorCode::kNotFound) continue;
    if (!there && IsNameTooLong(place)) continue;
    if (!there) return tl::unexpected<Error>(there.error());
    const Result<std::string> uid = DecodeArchiveUid(*there);
    if (uid && *uid == record.uid) return Sync();
    if (place != file) continue;
    if (Status kept = KeepEarlier(record.name, uid.value_or("unreadable"), file); !kept) return kept;
  }
  return WriteFileDurably(fd_.get(), folder_, file, EncodeArchive(record), owner_, group_);
}

/// A pass that was killed behind its rename may not have come to this.
Status Archive::Sync() const {
  if (::fsync(fd_.get()) != 0) return FolderError(folder_, "cannot sync it: " + SystemMessage(errno));
  return {};
}

Status Archive::KeepEarlier(const std::string& name, const std::string& uid, const std::string& file) const {
  // The uid is from a file, so it may be anything.
  const bool plain = uid.find_first_of("/.") == std::string::npos && uid.size() <= 64;
  const std::string base = plain ? uid : "unreadable";
  std::string kept = KeptFileName(name, base);
  // A second name for the same file, and not another name: at no moment is there none.
  for (int number = 2; ::linkat(fd_.get(), file.c_str(), fd_.get(), kept.c_str(), 0) != 0; ++number) {
    if (errno != EEXIST || number > kMostOfOneUid) {
      return FolderError(folder_, fmt::format("cannot keep '{}' as '{}': {}", file, kept, SystemMessage(errno)));
    }
    if (SameFile(fd_.get(), file, kept)) return {};  // An earlier pass came as far as this.
    kept = KeptFileName(name, fmt::format("{}.{}", base, number));
  }
  return {};
}

}  // namespace cnpa
