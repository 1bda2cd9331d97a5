// SPDX-License-Identifier: Apache-2.0
#include "app/pass/only.h"

#include <set>
#include <string_view>

#include "app/cli/names.h"

namespace cnpa {

std::map<std::string, std::string> FindMissing(const Observation& observation, const std::vector<std::string>& only) {
  if (only.empty()) return {};
  std::vector<std::string> known;
  known.reserve(observation.team_spaces.size());
  for (const TeamSpace& team_space : observation.team_spaces) known.push_back(team_space.name);
  const std::set<std::string_view> names(known.begin(), known.end());
  std::map<std::string, std::string> missing;
  for (const std::string& name : only) {
    if (!names.contains(name)) missing.emplace(name, "--only: " + DescribeMissing(name, known));
  }
  return missing;
}

void RestrictTo(const std::vector<std::string>& only, std::size_t missing, Plan& plan) {
  if (only.empty()) return;
  const std::set<std::string> kept(only.begin(), only.end());
  std::erase_if(plan.chains, [&kept](const Chain& chain) { return !kept.contains(chain.name); });
  plan.team_spaces = kept.size() - missing;
}

}  // namespace cnpa
