// SPDX-License-Identifier: Apache-2.0
//
// Whose an existing namespace is. Its ownerReference to the TeamSpace says so by uid; where that is gone, our label or
// the uid that the status remembers do. What says so is part of the plan, so that the write can test it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/objects/objects.h"
#include "core/plan/change.h"

namespace cnpa {

struct Ownership {
  Claim claim = Claim::kNone;
  std::size_t index = 0;  ///< Of that ownerReference, for kOwner.
  std::string conflict;   ///< For the team, for kNone.

  bool ours() const { return claim != Claim::kNone; }
};

/// Returns whether `observed` is the namespace of the TeamSpace that `owner` refers to, whose status remembers
/// `known_uid`. One that another TeamSpace owns never is, unless it is ours by ownerReference, too.
Ownership ComputeOwnership(const Namespace& observed, const OwnerReference& owner, const Boxed<std::string>& known_uid);

/// Returns whether `owner` names a TeamSpace of any version of our API.
bool IsTeamSpaceOwner(const OwnerReference& owner);

}  // namespace cnpa
