// SPDX-License-Identifier: Apache-2.0
//
// The pure part of a pass, from 10 team spaces to 100,000: what one of them takes must not grow with their number.
#include <cstddef>
#include <string>

#include "core/plan/change.h"
#include "core/teamspace/desired.h"
#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

constexpr std::size_t kSizes[] = {10, 100, 1000, 10000, 100000};

/// Returns names in their order, as a list has them.
std::string NameOf(std::size_t number) {
  std::string digits = std::to_string(number);
  return "bench-" + std::string(6 - digits.size(), '0') + digits;
}

Observation Converged(std::size_t count) {
  Observation observation{.team_spaces = {}, .namespaces = {}, .quotas = {}, .crd = {}, .observed_at = kNow};
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = NameOf(i);
    observation.team_spaces.push_back(TeamSpaceNamed(name));
    observation.namespaces.push_back(NamespaceFor(name));
    observation.quotas.push_back(QuotaFor(name));
  }
  return observation;
}

Observation AllNew(std::size_t count) {
  Observation observation{.team_spaces = {}, .namespaces = {}, .quotas = {}, .crd = {}, .observed_at = kNow};
  for (std::size_t i = 0; i < count; ++i) observation.team_spaces.push_back(NewTeamSpaceNamed(NameOf(i)));
  return observation;
}

std::string Named(const std::string& kind, std::size_t count) {
  return kind + ": " + std::to_string(count);
}

TEST_CASE("ComputeDesired", "[bench]") {
  for (const std::size_t count : kSizes) {
    const Observation observation = AllNew(count);
    BENCHMARK(Named("desired", count)) {
      std::size_t keys = 0;
      for (const TeamSpace& team_space : observation.team_spaces) keys += ComputeDesired(team_space).hard.size();
      return keys;
    };
  }
}

TEST_CASE("ComputePlan", "[bench]") {
  for (const std::size_t count : kSizes) {
    const Observation converged = Converged(count);
    REQUIRE(ComputePlan(converged).empty());
    BENCHMARK(Named("plan", count)) {
      return ComputePlan(converged);
    };

    const Observation all_new = AllNew(count);
    REQUIRE(ComputePlan(all_new).chains.size() == count);
    BENCHMARK(Named("plan_new", count)) {
      return ComputePlan(all_new);
    };
  }
}

}  // namespace
}  // namespace cnpa
