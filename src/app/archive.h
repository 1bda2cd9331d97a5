// SPDX-License-Identifier: Apache-2.0
//
// The folder in which deleted TeamSpaces are kept: one JSON file each, never overwritten by another TeamSpace's.
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"
#include "core/plan.h"

namespace cnpa {

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

  /// Returns the file that Write() leaves `record` in, with its folder.
  std::string PathOf(const WriteArchive& record) const;

 private:
  Status Open();
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
