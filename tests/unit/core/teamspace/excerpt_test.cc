// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/excerpt.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/plan/change.h"
#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/world.h"

namespace cnpa {
namespace {

void Sort(Observation& observation) {
  std::sort(observation.team_spaces.begin(), observation.team_spaces.end(),
            [](const TeamSpace& left, const TeamSpace& right) { return left.name < right.name; });
  std::sort(observation.namespaces.begin(), observation.namespaces.end(),
            [](const Namespace& left, const Namespace& right) { return left.name < right.name; });
  std::sort(observation.quotas.begin(), observation.quotas.end(),
            [](const Quota& left, const Quota& right) { return left.namespace_name < right.namespace_name; });
}

TEST_CASE("ExcerptOf has what there is of a team space, and nothing else", "[core][excerpt]") {
  Observation cluster = ConvergedCluster({"blue", "green", "red"});
  cluster.crd.has_status = false;
  const Observation green = ExcerptOf(cluster, "green");
  CHECK(green == Observation{.team_spaces = {cluster.team_spaces[1]},
                             .namespaces = {cluster.namespaces[1]},
                             .quotas = {cluster.quotas[1]},
                             .crd = cluster.crd,
                             .observed_at = cluster.observed_at});
  cluster.team_spaces.pop_back();
  cluster.quotas.pop_back();
  CHECK(ExcerptOf(cluster, "red").team_spaces.empty());
  CHECK(ExcerptOf(cluster, "red").namespaces.size() == 1);
  CHECK(ExcerptOf(cluster, "red").quotas.empty());
}

// plan(excerpt(o, t)) = the chain of t in plan(o), for each t; and no other team space has one
TEST_CASE("ExcerptOf: the plan of an excerpt is that of the whole, for each team space", "[core][excerpt][property]") {
  std::size_t chains = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    World world = RandomWorld(random);
    Sort(world.cluster);
    world.cluster.crd.has_namespace_uid = world.cluster.crd.has_namespace_uid || ShowsNamespaceUid(world.cluster);
    CAPTURE(seed);
    const Plan whole = ComputePlan(world.cluster);
    std::set<std::string> names{"nobody"};
    for (const TeamSpace& team_space : world.cluster.team_spaces) names.insert(team_space.name);
    bool must_read_crd = false;
    for (const std::string& name : names) {
      CAPTURE(name);
      const Observation excerpt = ExcerptOf(world.cluster, name);
      std::vector<Chain> want;
      std::copy_if(whole.chains.begin(), whole.chains.end(), std::back_inserter(want),
                   [&name](const Chain& chain) { return chain.name == name; });
      REQUIRE(ComputePlan(excerpt).chains == want);
      must_read_crd = must_read_crd || MustReadCrd(excerpt);
      chains += want.size();
    }
    REQUIRE(must_read_crd == MustReadCrd(world.cluster));
  }
  CHECK(chains > 2000);
}

}  // namespace
}  // namespace cnpa
