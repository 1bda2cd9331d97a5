// SPDX-License-Identifier: Apache-2.0
//
// What the archive folder has of a name: also of team spaces that are gone, and of several that bore it one after
// another.
#pragma once

#include <string>
#include <vector>

#include "core/plan/change.h"

namespace cnpa {

struct ArchiveFile {
  std::string file;     ///< Without its folder.
  WriteArchive record;  ///< What stands in it, when there is no problem.
  std::string problem;  ///< Why it can't be read; else empty.

  bool operator==(const ArchiveFile&) const = default;
};

struct ArchiveSearch {
  std::string folder;  ///< Empty: there is none.
  std::vector<ArchiveFile> files;
  std::string problem;  ///< Why nobody can say what is there; else empty. A folder that is not there yet is none.

  bool operator==(const ArchiveSearch&) const = default;
};

/// Returns the archives of `name`, the latest first. Only reads.
ArchiveSearch FindArchives(const std::string& folder, const std::string& name);

}  // namespace cnpa
