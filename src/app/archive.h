// SPDX-License-Identifier: Apache-2.0
//
// The folder in which deleted TeamSpaces are kept: one JSON file each, never overwritten by another TeamSpace's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "core/plan.h"

namespace cnpa {

/// What Examine() finds of the folder.
struct ArchiveState {
  bool there = false;     ///< Else Write() makes it, and what follows is of the folder that it is made in.
  std::string looked_at;  ///< The folder itself, or the nearest one above it that is there.
  unsigned mode = 0;      ///< Permission bits.
  bool foreign = false;   ///< Belongs to another user than us, who are root: so will the archives.
  std::optional<std::uint64_t> free_bytes;  ///< Nothing: the system does not say.

  bool operator==(const ArchiveState&) const = default;
};

class Archive {
 public:
  /// Which folders Write() may make. The parent of a folder that the user named may be a volume that is not mounted.
  enum class Make { kLastOnly, kParentsToo };

  /// `folder` may be empty: then there is none, and each Write() says so. Nothing is touched yet.
  explicit Archive(std::string folder, Make make = Make::kLastOnly) : folder_(std::move(folder)), make_(make) {}

  /// Puts `record` safely on disk: after success it survives a power cut. Twice the same uid is no second
  /// file; an earlier archive of the same name and another uid is kept as "<name>.<uid>.json". The folder is
  /// made (0700) when it is not there.
  ///
  /// Errors:  kInvalid, with the folder or file and the system's words.
  Status Write(const WriteArchive& record);

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

 private:
  Status Open();
  Status OpenFolder();
  Status ProbeFolder(Probe probe) const;
  Result<ArchiveState> ExamineAbove() const;
  Status KeepEarlier(const std::string& name, const std::string& uid, const std::string& file) const;
  Status Sync() const;

  std::string folder_;
  Make make_;
  UniqueFd fd_;
  bool swept_ = false;
  uid_t owner_ = static_cast<uid_t>(-1);  ///< Of the files, when it is not us.
  gid_t group_ = static_cast<gid_t>(-1);
};

/// Returns the name of the file for a TeamSpace: "<name>.json"; a name that no file could bear is shortened
/// and made unique by its uid.
std::string ArchiveFileName(const std::string& name, const std::string& uid);

}  // namespace cnpa
