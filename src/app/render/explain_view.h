// SPDX-License-Identifier: Apache-2.0
//
// `cnpa-op explain` for eyes: first how the team space stands and what a pass makes of it, then each object and each
// field that cnpa-op owns, then the archives.
#pragma once

#include <string>
#include <vector>

#include "app/output/layout.h"
#include "app/stages/archive_search.h"
#include "core/teamspace/explanation.h"

namespace cnpa {

/// Returns the lines. Ages are counted from when the cluster was observed.
std::vector<std::string> ExplanationLines(const Explanation& explanation, const ArchiveSearch& archives,
                                          const ViewForm& form);

}  // namespace cnpa
