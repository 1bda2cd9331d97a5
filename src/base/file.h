// SPDX-License-Identifier: Apache-2.0
//
// The few things that cnpa-op does with files, each with an error that names the file.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

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

/// Reads a whole file, and what the system says of it. Never waits: FIFOs and sockets are refused.
///
/// Errors:  kNotFound when it is not there; kInvalid when it can't be read or is larger than `limit_bytes`.
Result<std::string> ReadFile(const std::string& path, std::size_t limit_bytes = kLargestFileBytes,
                             FileFacts* facts = nullptr);

/// Like ReadFile(), of `name` in the open folder `folder_fd`; a symbolic link is not followed.
Result<std::string> ReadFileAt(int folder_fd, const std::string& folder, const std::string& name,
                               std::size_t limit_bytes, FileFacts* facts = nullptr);

/// Returns what the system says of an open file or folder.
FileFacts FactsOf(int fd);

/// Whose a new file is, and who may use it. What a file system does not keep, such as modes on exFAT, is done without.
struct FileAccess {
  uid_t owner = static_cast<uid_t>(-1);  ///< -1: whoever writes it.
  gid_t group = static_cast<gid_t>(-1);  ///< -1: as the system has it.
  mode_t mode = 0600;                    ///< Without `owner`, the group's part holds only if `group` could be given.
};

/// What others do with files and a file system does not know.
struct MissingFeatures {
  bool folder_sync = false;
  bool hard_links = false;
  bool locks = false;
  bool operator==(const MissingFeatures&) const = default;
};

/// Returns whether `error_number` says that a file system has no such call at all, rather than that this one failed.
bool IsFolderSyncMissing(int error_number);
bool IsLinkMissing(int error_number);
bool IsLockMissing(int error_number);

/// Writes `content` to `name` in the open folder `folder_fd` so that after success it survives a power cut,
/// and after a failure at any point either the whole file or nothing of it is there under `name`: a temporary
/// file beside it, fsync, rename, fsync of the folder. Where there is no such fsync, `missing` says so, if it is given.
///
/// Errors:  kInvalid, with the step that failed and the system's words.
/// Requires: `name` has no '/'. `folder` is for messages only.
Status WriteFileDurably(int folder_fd, const std::string& folder, const std::string& name, std::string_view content,
                        const FileAccess& access = {}, MissingFeatures* missing = nullptr);

/// Syncs the open folder `folder_fd`. Returns false where its file system can't do that: there is nothing to be synced,
/// or nothing that could be done about it.
///
/// Errors:  kInvalid, with the system's words.
Result<bool> SyncFolder(int folder_fd, const std::string& folder);

/// Puts `content` in the place of the file `path`, by default readable by everybody, so that whoever reads it finds the
/// old or the new one whole. No promise for a power cut: that is WriteFileDurably()'s. Where root writes into a folder
/// of somebody else, the file becomes theirs, if root may give it away.
///
/// Errors:  kInvalid, with the step that failed and the system's words; then nothing has changed.
Status ReplaceFile(const std::string& path, std::string_view content, mode_t mode = 0644);

/// Gives an open file the owner, group and mode of `access`, as far as its file system keeps them.
///
/// Errors:  kInvalid when it can't be given to another user.
Status GrantAccess(int fd, const std::string& path, const FileAccess& access);

/// Finds out whether WriteFileDurably() can work in the open folder `folder_fd`, and what is missing there: writes,
/// syncs, locks, links and removes a temporary file.
///
/// Errors:  kInvalid, with the step that failed and the system's words.
Result<MissingFeatures> ProbeWritable(int folder_fd, const std::string& folder, const FileAccess& access = {});

/// Returns the names of what is in an open folder, in no order.
std::vector<std::string> NamesIn(int folder_fd);

/// Removes the temporary files that WriteFileDurably() leaves in a folder when the process is killed in it.
///
/// Requires: nobody is writing in that folder.
void RemoveTemporaries(int folder_fd);

/// Returns the words for `error_number`, in lower case: "permission denied".
std::string SystemMessage(int error_number);

/// Returns the folder part of `path`, "." when it has none. A slash at the end of `path` says nothing.
std::string FolderOf(const std::string& path);

/// Returns what stands behind the folder part of `path`.
std::string NameOf(const std::string& path);

/// Returns `path` without slashes at its end; "/" stays.
std::string_view WithoutEndingSlashes(std::string_view path);

/// Returns `path` as seen from `folder` when it is relative and not empty, else `path` itself.
std::string ResolvePath(const std::string& folder, const std::string& path);

}  // namespace cnpa
