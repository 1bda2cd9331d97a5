// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/ownership.h"

#include <string_view>
#include <utility>

namespace cnpa {
namespace {

Ownership Conflict(std::string words) {
  return {.claim = Claim::kNone, .index = 0, .conflict = std::move(words)};
}

}  // namespace

bool IsTeamSpaceOwner(const OwnerReference& owner) {
  const std::string_view group = kTeamSpaceApiVersion.substr(0, kTeamSpaceApiVersion.find('/') + 1);
  return owner.kind == kTeamSpaceKind && std::string_view(owner.api_version).starts_with(group);
}

Ownership ComputeOwnership(const Namespace& observed, const OwnerReference& owner,
                           const Boxed<std::string>& known_uid) {
  const OwnerReference* other = nullptr;
  for (std::size_t i = 0; i < observed.owners.size(); ++i) {
    const OwnerReference& reference = observed.owners[i];
    if (reference.uid == owner.uid) return {.claim = Claim::kOwner, .index = i, .conflict = {}};
    if (IsTeamSpaceOwner(reference) && reference.name != owner.name) other = &reference;
  }
  if (other != nullptr) return Conflict("namespace " + observed.name + " belongs to TeamSpace " + other->name);
  if (observed.team_space_label == owner.name) return {.claim = Claim::kLabel, .index = 0, .conflict = {}};
  if (known_uid && observed.uid == *known_uid) return {.claim = Claim::kUid, .index = 0, .conflict = {}};
  return Conflict("namespace " + observed.name +
                  " exists and is not ours: take another name, or hand it over (it is then deleted with the "
                  "TeamSpace): kubectl label namespace " +
                  observed.name + " --overwrite " + std::string(kTeamSpaceLabel) + "=" + owner.name);
}

}  // namespace cnpa
