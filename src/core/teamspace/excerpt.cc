// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/excerpt.h"

#include <vector>

#include "base/sorted.h"

namespace cnpa {
namespace {

template <typename T>
std::vector<T> Only(const std::vector<T>& objects, std::string T::*key, const std::string& name) {
  const auto place = LowerBound(objects, key, name);
  if (place == objects.end() || (*place).*key != name) return {};
  return {*place};
}

}  // namespace

Observation ExcerptOf(const Observation& observation, const std::string& team_space) {
  const std::string space = NamespaceNameOf(team_space);
  return {.team_spaces = Only(observation.team_spaces, &TeamSpace::name, team_space),
          .namespaces = Only(observation.namespaces, &Namespace::name, space),
          .quotas = Only(observation.quotas, &Quota::namespace_name, space),
          .crd = observation.crd,
          .observed_at = observation.observed_at};
}

}  // namespace cnpa
