// SPDX-License-Identifier: Apache-2.0
//
// What should be there for one TeamSpace, whatever is there now.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/objects/objects.h"
#include "core/objects/quantity.h"
#include "core/plan/reason.h"

namespace cnpa {

struct DesiredTeamSpace {
  OwnerReference owner;                     ///< On the namespace: this TeamSpace.
  std::string namespace_name;               ///< "team-<name>".
  std::map<std::string, std::string> hard;  ///< `spec.hard` of the quota, as it is sent: exactly two keys.
  std::optional<Refusal> refusal;           ///< The TeamSpace itself can't be served; the rest is then not to be used.
};

/// Returns the ownerReference to the TeamSpace of this name and uid.
OwnerReference OwnerReferenceTo(const std::string& name, const std::string& uid);

/// Returns what `team_space` asks for. Pure.
///
/// Requires: `team_space` is readable and is not being deleted.
DesiredTeamSpace ComputeDesired(const TeamSpace& team_space);

/// Returns whether two quantities are one value. Text that is no quantity equals nothing.
bool SameQuantity(const std::string& left, const std::string& right);

}  // namespace cnpa
