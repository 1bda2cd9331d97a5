// SPDX-License-Identifier: Apache-2.0
#include "core/objects/objects.h"

#include <algorithm>

namespace cnpa {

std::string LabelPath() {
  return "metadata.labels['" + std::string(kTeamSpaceLabel) + "']";
}

std::string ReadyMemberPath(std::string_view member) {
  return std::string(kReadyConditionPath) + "." + std::string(member);
}

std::string OwnerPath(std::string_view uid) {
  return std::string(kOwnersPath) + "['" + std::string(uid) + "']";
}

bool IsTeamSpaceName(std::string_view name) {
  constexpr std::size_t kLongest = 63 - kNamespacePrefix.size();
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > kLongest) return false;
  if (!alphanumeric(name.front()) || !alphanumeric(name.back())) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return alphanumeric(c) || c == '-'; });
}

bool HasFinalizer(const TeamSpace& team_space) {
  const auto& finalizers = team_space.finalizers;
  return std::find(finalizers.begin(), finalizers.end(), kFinalizer) != finalizers.end();
}

bool AwaitsFinalizer(const TeamSpace& team_space) {
  return team_space.deleting() && HasFinalizer(team_space);
}

bool ShowsNamespaceUid(const Observation& observation) {
  return std::any_of(observation.team_spaces.begin(), observation.team_spaces.end(),
                     [](const TeamSpace& team_space) { return team_space.status.namespace_uid.has_value(); });
}

bool MustReadCrd(const Observation& observation) {
  const bool keeps_uids = observation.crd.has_namespace_uid || ShowsNamespaceUid(observation);
  return std::any_of(observation.team_spaces.begin(), observation.team_spaces.end(), [&](const TeamSpace& team_space) {
    if (team_space.deleting()) return AwaitsFinalizer(team_space);
    const TeamSpaceStatus& status = team_space.status;
    // One that is refused has no observedGeneration by right; one that is ready lost it to its CRD.
    const bool ready = status.ready && status.ready->status == "True";
    if (!status.has_conditions || (ready && (!status.observed_generation || !status.namespace_name))) return true;
    return !keeps_uids && status.namespace_name.has_value();
  });
}

}  // namespace cnpa
