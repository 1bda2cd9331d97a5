// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/teamspace/explanation.h"

namespace cnpa {

/// Returns what there is to say of team space `name`, of which `plan` is made from `observation`. Where there is none,
/// what is left of its namespace.
///
/// Requires: `observation` has all that concerns it; others are passed over.
Explanation ComputeExplanation(const Observation& observation, const CloseSights& sights, const Plan& plan,
                               const std::string& name);

}  // namespace cnpa
