// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/plan/change.h"
#include "support/builders.h"

namespace cnpa {

/// Returns what is archived of a TeamSpace.
inline WriteArchive Record(const std::string& name, const std::string& uid = "uid-1") {
  return {.name = name,
          .uid = uid,
          .pods = 6,
          .cpu = "2",
          .generation = 2,
          .deleted_at = kEarlierText,
          .archived_at = kNowText};
}

}  // namespace cnpa
