// SPDX-License-Identifier: Apache-2.0
//
// What is to be done to a namespace that is there, and to the quota in it: each compared field by field with what the
// TeamSpace asks for, and only in what we own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/objects/objects.h"
#include "core/plan/change.h"
#include "core/plan/reason.h"
#include "core/teamspace/desired.h"
#include "core/teamspace/ownership.h"

namespace cnpa {

/// Returns the patch that puts our label and ownerReference onto `observed`; nothing when both are right.
/// `reconciled` says that a pass has brought the TeamSpace to its desired state once, so the namespace had both.
///
/// Requires: `ownership` is that of `observed`, and it is ours.
std::optional<Change> ComputeNamespaceRepair(const Namespace& observed, const Ownership& ownership, bool reconciled,
                                             const DesiredTeamSpace& desired);

/// Appends what makes the quota as `desired`; `observed` is null when there is none. Returns why that is not enough,
/// if it is not: a quota in the way is kept by others.
std::optional<Refusal> PlanQuota(const Quota* observed, const DesiredTeamSpace& desired, std::vector<Change>& changes);

/// Returns the keys of `spec.hard` in which `hard` is not as `desired`, compared by value.
std::vector<FieldChange> CompareHard(const std::map<std::string, std::string>& hard,
                                     const std::map<std::string, std::string>& desired);

/// Returns an ownerReference for people, where its uid is not what differs.
std::string OwnerText(const OwnerReference& owner);

/// Returns whether `space` is, as it is now, the namespace of the TeamSpace of `chain`.
bool IsOurs(const Chain& chain, const Namespace& space);

}  // namespace cnpa
