// SPDX-License-Identifier: Apache-2.0
//
// The few things that cnpa-op does with files, each with an error that names the file.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/result.h"

namespace cnpa {

/// Owns a file descriptor. Move only.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd();

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int Release();

 private:
  int fd_ = -1;
};

inline constexpr std::size_t kLargestFileBytes = std::size_t{16} << 20U;

/// What the system says of an open file.
struct FileFacts {
  bool is_regular = false;
  bool is_ours = false;             ///< Owned by the user that this process runs as.
  bool writable_by_others = false;  ///< By the group, or by anybody.
  bool readable_by_others = false;
};

/// Reads a whole file, and what the system says of it.
///
/// Errors:  kNotFound when it is not there; kInvalid when it can't be read or is larger than `limit_bytes`.
Result<std::string> ReadFile(const std::string& path, std::size_t limit_bytes = kLargestFileBytes,
                             FileFacts* facts = nullptr);

/// Like ReadFile(), of `name` in the open folder `folder_fd`; a symbolic link is not followed.
Result<std::string> ReadFileAt(int folder_fd, const std::string& folder, const std::string& name,
                               std::size_t limit_bytes, FileFacts* facts = nullptr);

/// Returns what the system says of an open file or folder.
FileFacts FactsOf(int fd);

/// Writes `content` to `name` in the open folder `folder_fd` so that after success it survives a power cut,
/// and after a failure at any point either the whole file or nothing of it is there under `name`: a temporary
/// file of mode 0600 beside it, fsync, rename, fsync of the folder. `owner` and `group`, unless -1, are given
/// to the file first.
///
/// Errors:  kInvalid, with the step that failed and the system's words.
/// Requires: `name` has no '/'. `folder` is for messages only.
Status WriteFileDurably(int folder_fd, const std::string& folder, const std::string& name, std::string_view content,
                        uid_t owner = static_cast<uid_t>(-1), gid_t group = static_cast<gid_t>(-1));

/// Puts `content` in the place of the file `path`, by default readable by everybody, so that whoever reads it finds the
/// old or the new one whole. No promise for a power cut: that is WriteFileDurably()'s.
///
/// Errors:  kInvalid, with the step that failed and the system's words; then nothing has changed.
Status ReplaceFile(const std::string& path, std::string_view content, mode_t mode = 0644);

/// Finds out whether WriteFileDurably() can work in the open folder `folder_fd`: writes, syncs and removes a temporary
/// file there.
///
/// Errors:  kInvalid, with the step that failed and the system's words.
Status ProbeWritable(int folder_fd, const std::string& folder, uid_t owner = static_cast<uid_t>(-1),
                     gid_t group = static_cast<gid_t>(-1));

/// Removes the temporary files that WriteFileDurably() leaves in a folder when the process is killed in it.
///
/// Requires: nobody is writing in that folder.
void RemoveTemporaries(int folder_fd);

/// Returns the words for `error_number`, in lower case: "permission denied".
std::string SystemMessage(int error_number);

/// Returns the folder part of `path`, "." when it has none.
std::string FolderOf(const std::string& path);

/// Returns what stands behind the folder part of `path`.
std::string NameOf(const std::string& path);

/// Returns `path` as seen from `folder` when it is relative and not empty, else `path` itself.
std::string ResolvePath(const std::string& folder, const std::string& path);

}  // namespace cnpa
