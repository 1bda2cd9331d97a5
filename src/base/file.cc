// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <array>
#include <cassert>
#include <cctype>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace cnpa {
namespace {

tl::unexpected<Error> FileError(const std::string& verb, const std::string& path, int error_number) {
  const ErrorCode code = error_number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalid;
  return Fail(code, "cannot " + verb + " '" + path + "': " + SystemMessage(error_number));
}

constexpr std::string_view kTemporaryPrefix = ".tmp.";
constexpr std::size_t kProbeBytes = 512;

Result<std::string> ReadAll(const UniqueFd& fd, const std::string& path, std::size_t limit_bytes) {
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
std::string TemporaryName() {
  return std::string(kTemporaryPrefix) + std::to_string(std::random_device()());
}

UniqueFd CreateTemporary(int folder_fd, const std::string& name) {
  return UniqueFd(::openat(folder_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
}

/// Writes, owns and syncs the temporary file; the caller removes it when this fails.
Status FillTemporary(const UniqueFd& fd, const std::string& path, std::string_view content, uid_t owner, gid_t group) {
  if ((owner != static_cast<uid_t>(-1) || group != static_cast<gid_t>(-1)) && ::fchown(fd.get(), owner, group) != 0) {
    return FileError("change the owner of", path, errno);
  }
  if (Status written = WriteAll(fd.get(), path, content); !written) return written;
  if (::fsync(fd.get()) != 0) return FileError("sync", path, errno);
  return {};
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
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
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
Status FillAndRename(int folder_fd, const std::string& folder, const std::string& name, const Fill& fill) {
  const std::string temporary = TemporaryName();
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

}  // namespace

Status WriteFileDurably(int folder_fd, const std::string& folder, const std::string& name, std::string_view content,
                        uid_t owner, gid_t group) {
  assert(name.find('/') == std::string::npos);
  const std::string path = folder + "/" + name;
  Status filled = FillAndRename(folder_fd, folder, name,
                                [&](const UniqueFd& fd) { return FillTemporary(fd, path, content, owner, group); });
  if (filled && ::fsync(folder_fd) != 0) return FileError("sync the folder of", path, errno);
  return filled;
}

Status ReplaceFile(const std::string& path, std::string_view content, mode_t mode) {
  const std::string folder = FolderOf(path);
  const UniqueFd folder_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd) return Fail(ErrorCode::kInvalid, "cannot write '" + path + "': " + SystemMessage(errno));
  return FillAndRename(folder_fd.get(), folder, NameOf(path), [&](const UniqueFd& fd) -> Status {
    // Whatever the umask is.
    if (::fchmod(fd.get(), mode) != 0) return FileError("change the mode of", path, errno);
    return WriteAll(fd.get(), path, content);
  });
}

Status ProbeWritable(int folder_fd, const std::string& folder, uid_t owner, gid_t group) {
  const std::string temporary = TemporaryName();
  const std::string path = folder + "/" + temporary;
  const UniqueFd fd = CreateTemporary(folder_fd, temporary);
  if (!fd) return Fail(ErrorCode::kInvalid, "cannot write '" + path + "': " + SystemMessage(errno));
  // As much as an archive has: a full disk may take an empty file.
  Status filled = FillTemporary(fd, path, std::string(kProbeBytes, '\n'), owner, group);
  ::unlinkat(folder_fd, temporary.c_str(), 0);
  return filled;
}

void RemoveTemporaries(int folder_fd) {
  // A descriptor of its own: reading a folder moves a position that is shared otherwise.
  const int fd = ::openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = fd >= 0 ? ::fdopendir(fd) : nullptr;
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name(entry->d_name);
    if (name.starts_with(kTemporaryPrefix)) ::unlinkat(folder_fd, entry->d_name, 0);
  }
  ::closedir(folder);
}

std::string SystemMessage(int error_number) {
  std::string message = std::generic_category().message(error_number);
  if (message.size() > 1 && std::isupper(static_cast<unsigned char>(message[1])) == 0) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  return message;
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string NameOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string ResolvePath(const std::string& folder, const std::string& path) {
  return path.empty() || path.front() == '/' ? path : folder + "/" + path;
}

}  // namespace cnpa
