// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/objects/objects.h"

namespace cnpa {

/// Returns what `observation` has of one TeamSpace: itself, its namespace and its quota, as far as they are there. Its
/// chain in the plan of the excerpt is that in the plan of the whole, so that an event costs no plan of everything.
///
/// Requires: the lists are sorted: by name, quotas by namespace; and what the others show of the CRD stands in `crd`.
Observation ExcerptOf(const Observation& observation, const std::string& team_space);

}  // namespace cnpa
