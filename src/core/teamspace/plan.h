// SPDX-License-Identifier: Apache-2.0
//
// What a pass does for TeamSpaces, and what a failure of that means for their team.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/objects/objects.h"
#include "core/plan/change.h"
#include "core/plan/reason.h"

namespace cnpa {

struct PlanOptions {
  bool allow_crd_deletion = false;  ///< Finalize TeamSpaces although their CRD is being deleted.
};

/// Returns the writes that bring `observation` to what its TeamSpaces ask for, and no others. Pure; does not
/// depend on the order of the lists.
Plan ComputePlan(const Observation& observation, const PlanOptions& options = {});

/// Returns the status write that tells `refusal`, the failure of `chain.changes[failed]`; nothing when the
/// status tells it already, or has no place for it. `created_uid` is that of the namespace that the chain has created.
std::optional<Change> ComputeRefusedStatus(const Chain& chain, std::size_t failed, const Refusal& refusal, Time now,
                                           const Boxed<std::string>& created_uid = {});

}  // namespace cnpa
