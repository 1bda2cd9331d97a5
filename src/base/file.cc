// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <array>
#include <cassert>
#include <cctype>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace cnpa {
namespace {

tl::unexpected<Error> FileError(const std::string& verb, const std::string& path, int error_number) {
  const ErrorCode code = error_number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalid;
  return Fail(code, "cannot " + verb + " '" + path + "': " + SystemMessage(error_number));
}

// Only what is written durably is swept up: the folder of a metrics file may be that of the archives.
constexpr std::string_view kTemporaryPrefix = ".cnpa-op.tmp.";
constexpr std::string_view kReplacementPrefix = ".cnpa-op.new.";
constexpr std::size_t kProbeBytes = 512;

/// What waits for a writer, such as a FIFO, would hold us up for as long as it likes.
Status CheckNeverWaits(const UniqueFd& fd, const std::string& path) {
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return FileError("read", path, errno);
  if (S_ISDIR(facts.st_mode)) return FileError("read", path, EISDIR);
  if (S_ISREG(facts.st_mode) || S_ISCHR(facts.st_mode)) return {};
  return Fail(ErrorCode::kInvalid, "cannot read '" + path + "': not a regular file");
}

Result<std::string> ReadAll(const UniqueFd& fd, const std::string& path, std::size_t limit_bytes) {
  if (Status waits = CheckNeverWaits(fd, path); !waits) return tl::unexpected<Error>(std::move(waits).error());
  std::string content;
  std::array<char, 16384> buffer{};
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FileError("read", path, errno);
    if (count == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(count));
    if (content.size() > limit_bytes) {
      return Fail(ErrorCode::kInvalid,
                  "cannot read '" + path + "': larger than " + std::to_string(limit_bytes) + " bytes");
    }
  }
}

Status WriteAll(int fd, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FileError("write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

/// Random, so that two passes at once, even in two containers over one folder, don't meet.
std::string TemporaryName(std::string_view prefix) {
  return std::string(prefix) + std::to_string(std::random_device()());
}

UniqueFd CreateTemporary(int folder_fd, const std::string& name) {
  return UniqueFd(::openat(folder_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
}

/// Writes and syncs the temporary file; the caller removes it when this fails.
Status FillTemporary(const UniqueFd& fd, const std::string& path, std::string_view content, const FileAccess& access) {
  if (Status granted = GrantAccess(fd.get(), path, access); !granted) return granted;
  if (Status written = WriteAll(fd.get(), path, content); !written) return written;
  if (::fsync(fd.get()) != 0) return FileError("sync", path, errno);
  return {};
}

/// Tries what an archive may need of the file system of `temporary`, an open file in `folder_fd`.
Result<MissingFeatures> ProbeFeatures(int folder_fd, const std::string& folder, const UniqueFd& fd,
                                      const std::string& temporary) {
  MissingFeatures missing;
  const std::string path = folder + "/" + temporary;
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    missing.locks = IsLockMissing(errno);
    if (!missing.locks) return FileError("lock", path, errno);
  }
  const std::string second = temporary + ".2";
  if (::linkat(folder_fd, temporary.c_str(), folder_fd, second.c_str(), 0) == 0) {
    ::unlinkat(folder_fd, second.c_str(), 0);
  } else {
    missing.hard_links = IsLinkMissing(errno);
    if (!missing.hard_links) return FileError("link", path, errno);
  }
  const Result<bool> synced = SyncFolder(folder_fd, folder);
  if (!synced) return tl::unexpected<Error>(synced.error());
  missing.folder_sync = !*synced;
  return missing;
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.Release();
  }
  return *this;
}

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) ::close(fd_);
}

int UniqueFd::Release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

FileFacts FactsOf(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return {};
  return {.is_regular = S_ISREG(facts.st_mode),
          .is_ours = facts.st_uid == ::geteuid(),
          .writable_by_others = (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0,
          .readable_by_others = (facts.st_mode & (S_IRGRP | S_IROTH)) != 0};
}

Result<std::string> ReadFile(const std::string& path, std::size_t limit_bytes, FileFacts* facts) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return FileError("read", path, errno);
  if (facts != nullptr) *facts = FactsOf(fd.get());
  return ReadAll(fd, path, limit_bytes);
}

Result<std::string> ReadFileAt(int folder_fd, const std::string& folder, const std::string& name,
                               std::size_t limit_bytes, FileFacts* facts) {
  const UniqueFd fd(::openat(folder_fd, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return FileError("read", folder + "/" + name, errno);
  if (facts != nullptr) *facts = FactsOf(fd.get());
  return ReadAll(fd, folder + "/" + name, limit_bytes);
}

namespace {

/// Makes a temporary file, has it filled by `fill(fd)`, and gives it its name.
template <typename Fill>
Status FillAndRename(int folder_fd, const std::string& folder, const std::string& name, std::string_view prefix,
                     const Fill& fill) {
  const std::string temporary = TemporaryName(prefix);
  const std::string path = folder + "/" + name;
  const UniqueFd fd = CreateTemporary(folder_fd, temporary);
  if (!fd) {
    // Not "not found" but "not writable": the folder was opened, so only it or the disk can be at fault.
    return Fail(ErrorCode::kInvalid, "cannot write '" + path + "': " + SystemMessage(errno));
  }
  Status filled = fill(fd);
  if (filled && ::renameat(folder_fd, temporary.c_str(), folder_fd, name.c_str()) != 0) {
    filled = FileError("rename to", path, errno);
  }
  if (!filled) {
    ::unlinkat(folder_fd, temporary.c_str(), 0);
  }
  return filled;
}

/// Gives a file that root makes to the owner of its folder, who could replace it anyway.
void GiveToOwnerOf(int folder_fd, int fd) {
  struct stat facts {};
  if (::geteuid() != 0 || ::fstat(folder_fd, &facts) != 0 || facts.st_uid == 0) return;
  if (::fchown(fd, facts.st_uid, facts.st_gid) != 0) return;  // A root that may not: it stays root's.
}

}  // namespace

bool IsFolderSyncMissing(int error_number) {
  return error_number == EINVAL || error_number == EOPNOTSUPP || error_number == ENOSYS;
}

bool IsLinkMissing(int error_number) {
  return error_number == EPERM || error_number == EMLINK || error_number == EOPNOTSUPP || error_number == ENOSYS;
}

bool IsLockMissing(int error_number) {
  return error_number == ENOLCK || error_number == EOPNOTSUPP || error_number == ENOSYS;
}

Status GrantAccess(int fd, const std::string& path, const FileAccess& access) {
  const FileAccess plain;
  struct stat info {};
  if (::fstat(fd, &info) != 0) return FileError("look at", path, errno);
  const bool owned = (access.owner == plain.owner || info.st_uid == access.owner) &&
                     (access.group == plain.group || info.st_gid == access.group);
  if (!owned && ::fchown(fd, access.owner, access.group) != 0) {
    // The group is a favour to those who come after us; without it the file stays ours alone.
    if (access.owner == plain.owner) return {};
    return FileError("change the owner of", path, errno);
  }
  if (access.mode != plain.mode) ::fchmod(fd, access.mode);
  return {};
}

Result<bool> SyncFolder(int folder_fd, const std::string& folder) {
  if (::fsync(folder_fd) == 0) return true;
  if (IsFolderSyncMissing(errno)) return false;
  return FileError("sync the folder", folder, errno);
}

Status WriteFileDurably(int folder_fd, const std::string& folder, const std::string& name, std::string_view content,
                        const FileAccess& access, MissingFeatures* missing) {
  assert(name.find('/') == std::string::npos);
  const std::string path = folder + "/" + name;
  Status filled = FillAndRename(folder_fd, folder, name, kTemporaryPrefix,
                                [&](const UniqueFd& fd) { return FillTemporary(fd, path, content, access); });
  if (!filled) return filled;
  const Result<bool> synced = SyncFolder(folder_fd, folder);
  if (!synced) return tl::unexpected<Error>(synced.error());
  if (missing != nullptr) missing->folder_sync = !*synced;
  return {};
}

Status ReplaceFile(const std::string& path, std::string_view content, mode_t mode) {
  const std::string folder = FolderOf(path);
  const UniqueFd folder_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd) return Fail(ErrorCode::kInvalid, "cannot write '" + path + "': " + SystemMessage(errno));
  return FillAndRename(folder_fd.get(), folder, NameOf(path), kReplacementPrefix, [&](const UniqueFd& fd) -> Status {
    GiveToOwnerOf(folder_fd.get(), fd.get());
    // Whatever the umask is.
    if (::fchmod(fd.get(), mode) != 0) return FileError("change the mode of", path, errno);
    return WriteAll(fd.get(), path, content);
  });
}

Result<MissingFeatures> ProbeWritable(int folder_fd, const std::string& folder, const FileAccess& access) {
  const std::string temporary = TemporaryName(kTemporaryPrefix);
  const std::string path = folder + "/" + temporary;
  const UniqueFd fd = CreateTemporary(folder_fd, temporary);
  if (!fd) return Fail(ErrorCode::kInvalid, "cannot write '" + path + "': " + SystemMessage(errno));
  // As much as an archive has: a full disk may take an empty file.
  const Status filled = FillTemporary(fd, path, std::string(kProbeBytes, '\n'), access);
  Result<MissingFeatures> missing =
      filled ? ProbeFeatures(folder_fd, folder, fd, temporary) : tl::unexpected<Error>(filled.error());
  ::unlinkat(folder_fd, temporary.c_str(), 0);
  return missing;
}

std::vector<std::string> NamesIn(int folder_fd) {
  std::vector<std::string> names;
  // A descriptor of its own: reading a folder moves a position that is shared otherwise.
  const int fd = ::openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = fd >= 0 ? ::fdopendir(fd) : nullptr;
  if (folder == nullptr) return names;
  while (const dirent* entry = ::readdir(folder)) names.emplace_back(entry->d_name);
  ::closedir(folder);
  return names;
}

void RemoveTemporaries(int folder_fd) {
  for (const std::string& name : NamesIn(folder_fd)) {
    if (name.starts_with(kTemporaryPrefix)) ::unlinkat(folder_fd, name.c_str(), 0);
  }
}

std::string SystemMessage(int error_number) {
  std::string message = std::generic_category().message(error_number);
  if (message.size() > 1 && std::isupper(static_cast<unsigned char>(message[1])) == 0) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  return message;
}

std::string FolderOf(const std::string& path) {
  const std::string_view whole = WithoutEndingSlashes(path);
  const std::size_t slash = whole.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(whole.substr(0, slash));
}

std::string NameOf(const std::string& path) {
  const std::string_view whole = WithoutEndingSlashes(path);
  return std::string(whole.substr(whole.rfind('/') + 1));
}

std::string_view WithoutEndingSlashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

std::string ResolvePath(const std::string& folder, const std::string& path) {
  return path.empty() || path.front() == '/' ? path : folder + "/" + path;
}

}  // namespace cnpa
