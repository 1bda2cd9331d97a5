// SPDX-License-Identifier: Apache-2.0
//
// The folder in which deleted TeamSpaces are kept: one JSON file each, never overwritten by another TeamSpace's.
// Besides them it has our lock, a hidden file: the folder itself can be locked by whoever may read it, and on NFS by
// nobody.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "core/plan/change.h"

namespace cnpa {

/// The lock's name in the folder.
inline constexpr const char* kArchiveLock = ".cnpa-op.lock";

/// What Examine() finds of the folder.
struct ArchiveState {
  bool there = false;     ///< Else Write() makes it, and what follows is of the folder that it is made in.
  std::string looked_at;  ///< The folder itself, or the nearest one above it that is there.
  unsigned mode = 0;      ///< Permission bits.
  bool foreign = false;   ///< Belongs to another user than us, who are root: so will the archives.
  bool by_group = false;  ///< Belongs to another user than us, and is used by the permissions of its group.
  bool busy = false;      ///< Somebody else holds the lock, and did not let go of it.
  std::optional<std::uint64_t> free_bytes;  ///< Nothing: the system does not say.
  MissingFeatures missing;                  ///< Known once a file was written.

  bool operator==(const ArchiveState&) const = default;
};

/// How Archive::Write() went.
enum class Archived {
  kWritten,
  kThere,  ///< It was safely on disk before: nothing was written.
  kBusy,   ///< Another pass holds the folder: nothing was written, and soon is time to try again.
};

class Archive {
 public:
  /// Which folders Write() may make. The parent of a folder that the user named may be a volume that is not mounted.
  enum class Make { kLastOnly, kParentsToo };

  /// How long others may hold the lock before it counts as a failure.
  static constexpr std::chrono::milliseconds kLockWait{5000};

  /// `folder` may be empty: then there is none, and each Write() says so. Nothing is touched yet.
  explicit Archive(std::string folder, Make make = Make::kLastOnly, std::chrono::milliseconds lock_wait = kLockWait)
      : folder_(std::move(folder)), make_(make), lock_wait_(lock_wait) {}

  /// Puts `record` safely on disk: after success it survives a power cut, as far as the file system has a way to that.
  /// Twice the same uid is no second file, but one that is brought up to date; an earlier archive of the same name and
  /// another uid is kept as "<name>.<uid>.json". The folder is made (0700) when it is not there. Never waits for a
  /// lock: kBusy is returned until others have held it for the time that the constructor got, from then on an error.
  ///
  /// Errors:  kInvalid, with the folder or file and the system's words.
  Result<Archived> Write(const WriteArchive& record);

  /// How Examine() finds out: a file that was written tells more than permissions do (a full disk, say).
  enum class Probe { kWrite, kLook };

  /// Finds out whether Write() can work, and leaves nothing behind: where the folder is there, a temporary file is
  /// written and removed unless `probe` is kLook; where not, the one in which it would be made is only looked at.
  ///
  /// Errors:  kNotFound when the folder can't be made since its parent is not there; else kInvalid. In the words of
  ///          Write().
  Result<ArchiveState> Examine(Probe probe = Probe::kWrite);

  /// Returns the file that Write() leaves `record` in, with its folder.
  std::string PathOf(const WriteArchive& record) const;

  /// Returns, in one line, what Write() had to do without; "" when there was nothing.
  std::string DescribeMissing() const;

 private:
  Status Open();
  Status MakeFolder() const;
  Status OpenFolder();
  Status OpenLock();
  Result<Archived> Lock();
  Result<MissingFeatures> ProbeFolder(Probe probe) const;
  bool IsHeldByOthers(Probe probe) const;
  Result<ArchiveState> ExamineAbove() const;
  Result<Archived> WriteLocked(const WriteArchive& record);
  Result<Archived> Renew(const std::string& file, const std::string& text, const WriteArchive& there,
                         const WriteArchive& record);
  Status KeepEarlier(const std::string& file, const std::string& text, const std::string& uid);
  bool HasContent(const std::string& file, const std::string& text) const;
  Status WriteFile(const std::string& file, const std::string& text);

  std::string folder_;
  Make make_;
  std::chrono::milliseconds lock_wait_;
  UniqueFd fd_;
  UniqueFd lock_;
  std::optional<std::chrono::steady_clock::time_point> busy_since_;
  FileAccess access_;  ///< Of what is written.
  bool by_group_ = false;
  MissingFeatures missing_;
  bool swept_ = false;
};

/// Returns the name of the file for a TeamSpace: "<name>.json"; a name that no file could bear is shortened
/// and made unique by its uid.
std::string ArchiveFileName(const std::string& name, const std::string& uid);

/// Returns what a file system with `missing` does not do, as the rest of a sentence on it: "has no hard links (...)";
/// "" when nothing is missing.
std::string MissingWords(const MissingFeatures& missing);

}  // namespace cnpa
