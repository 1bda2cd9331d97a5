// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/desired.h"

#include "base/text.h"

namespace cnpa {
namespace {

constexpr std::size_t kLongestShown = 64;

std::optional<Refusal> RefuseSpec(const TeamSpace& team_space) {
  if (!IsTeamSpaceName(team_space.name)) {
    return Refusal{Reason::kInvalidName,
                   "\"" + NamespaceNameOf(team_space.name) +
                       "\" can't be the name of a namespace: create the TeamSpace again with a name of "
                       "at most 58 lower-case letters, digits and '-'"};
  }
  const Result<Quantity> cpu = ParseQuantity(team_space.cpu);
  if (!cpu || cpu->thousandths <= 0) {
    return Refusal{Reason::kInvalidQuantity, "spec.cpu: \"" + Shortened(team_space.cpu, kLongestShown) +
                                                 "\" is not a positive number of CPUs, such as 500m, 2 or 1.5"};
  }
  if (*team_space.pods < 0) {
    return Refusal{Reason::kInvalidQuantity,
                   "spec.pods: " + std::to_string(*team_space.pods) + " is not a number of pods, such as 10"};
  }
  return std::nullopt;
}

}  // namespace

OwnerReference OwnerReferenceTo(const std::string& name, const std::string& uid) {
  return {std::string(kTeamSpaceApiVersion), std::string(kTeamSpaceKind), name, uid};
}

DesiredTeamSpace ComputeDesired(const TeamSpace& team_space) {
  DesiredTeamSpace desired;
  desired.owner = OwnerReferenceTo(team_space.name, team_space.uid);
  desired.namespace_name = NamespaceNameOf(team_space.name);
  desired.refusal = RefuseSpec(team_space);
  desired.hard = {{std::string(kPodsKey), std::to_string(*team_space.pods)}, {std::string(kCpuKey), team_space.cpu}};
  return desired;
}

bool SameQuantity(const std::string& left, const std::string& right) {
  const Result<Quantity> left_value = ParseQuantity(left);
  const Result<Quantity> right_value = ParseQuantity(right);
  return left_value && right_value && *left_value == *right_value;
}

}  // namespace cnpa
