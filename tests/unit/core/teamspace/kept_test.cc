// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/kept.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/teamspace/plan.h"
#include "core/teamspace/setbacks.h"
#include "core/teamspace/status.h"
#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

/// The change of that kind in the plan for `cluster`, and its chain.
template <typename Effect>
std::pair<Chain, Change> Planned(const Observation& cluster) {
  const Plan plan = ComputePlan(cluster);
  for (const Chain& chain : plan.chains) {
    for (const Change& change : chain.changes) {
      if (std::holds_alternative<Effect>(change.effect)) return {chain, change};
    }
  }
  FAIL("no such change");
  return {};
}

Observation NewCluster() {
  Observation cluster;
  cluster.crd.has_namespace_uid = true;
  cluster.team_spaces = {NewTeamSpaceNamed("red")};
  cluster.observed_at = kNow;
  return cluster;
}

TEST_CASE("ComputeAlterations finds nothing in what was kept as it was sent", "[core][kept]") {
  const Observation new_cluster = NewCluster();
  const TeamSpace team_space = TeamSpaceNamed("red");
  Namespace space = NamespaceFor("red");
  space.owners.insert(space.owners.begin(), OwnerOf("other"));
  Quota quota = QuotaFor("red");
  quota.hard["requests.cpu"] = "2000m";  // The same amount.
  const auto [chain, finalizer] = Planned<AddFinalizer>(new_cluster);
  CHECK(ComputeAlterations(chain, finalizer, team_space).empty());
  CHECK(ComputeAlterations(chain, Planned<CreateNamespace>(new_cluster).second, space).empty());
  CHECK(ComputeAlterations(chain, Planned<CreateQuota>(new_cluster).second, quota).empty());
  TeamSpace written = team_space;
  const Change status = Planned<WriteStatus>(new_cluster).second;
  written.status = std::get<WriteStatus>(status.effect).desired;
  written.status.ready_index = 3;                             // Behind those of others,
  written.status.ready->last_transition_time = kEarlierText;  // and written by another pass.
  CHECK(ComputeAlterations(chain, status, written).empty());
}

TEST_CASE("ComputeAlterations is what a plan made from the answer would change", "[core][kept]") {
  struct Case {
    std::string name;
    std::function<void(TeamSpace&, Namespace&, Quota&)> alter;
  };
  const std::vector<Case> cases{
      {"pods", [](TeamSpace&, Namespace&, Quota& quota) { quota.hard["pods"] = "2"; }},
      {"no pods", [](TeamSpace&, Namespace&, Quota& quota) { quota.hard.erase("pods"); }},
      {"a key more", [](TeamSpace&, Namespace&, Quota& quota) { quota.hard["secrets"] = "1"; }},
      {"nothing", [](TeamSpace&, Namespace&, Quota& quota) { quota.hard.clear(); }},
      {"scopes",
       [](TeamSpace&, Namespace&, Quota& quota) {
         quota.scoped = true;
         quota.scopes = "BestEffort";
       }},
      {"label", [](TeamSpace&, Namespace& space, Quota&) { space.team_space_label = "blue"; }},
      {"no label", [](TeamSpace&, Namespace& space, Quota&) { space.team_space_label.reset(); }},
      {"no owner", [](TeamSpace&, Namespace& space, Quota&) { space.owners.clear(); }},
      {"another owner",
       [](TeamSpace&, Namespace& space, Quota&) {
         space.owners = {{"v1", "ConfigMap", "x", "u"}};
       }},
      {"an owner of another kind", [](TeamSpace&, Namespace& space, Quota&) { space.owners[0].kind = "Team"; }},
      {"no finalizer", [](TeamSpace& team_space, Namespace&, Quota&) { team_space.finalizers = {"a/b"}; }},
      {"observedGeneration",
       [](TeamSpace& team_space, Namespace&, Quota&) { team_space.status.observed_generation = 7; }},
      {"no namespace", [](TeamSpace& team_space, Namespace&, Quota&) { team_space.status.namespace_name.reset(); }},
      {"not ready",
       [](TeamSpace& team_space, Namespace&, Quota&) {
         team_space.status.ready->status = "False";
         team_space.status.ready->reason = "Because";
       }},
      {"other words", [](TeamSpace& team_space, Namespace&, Quota&) { team_space.status.ready->message = "x"; }},
      {"no condition",
       [](TeamSpace& team_space, Namespace&, Quota&) {
         team_space.status.ready.reset();
         team_space.status.has_conditions = false;
       }},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Observation kept = ConvergedCluster({"red"});
      c.alter(kept.team_spaces[0], kept.namespaces[0], kept.quotas[0]);
      // What was sent: all that a new TeamSpace takes.
      std::vector<std::string> altered;
      const Plan sent = ComputePlan(NewCluster());
      for (const Change& planned : sent.chains.at(0).changes) {
        const Change change = WithNamespaceUid(planned, kept.namespaces[0].uid);
        const ObjectRef object = ObjectOf(sent.chains[0], change);
        const Kept answer = object.kind == "Namespace"       ? Kept(kept.namespaces[0])
                            : object.kind == "ResourceQuota" ? Kept(kept.quotas[0])
                                                             : Kept(kept.team_spaces[0]);
        for (std::string& key : AlterationKeys(object, ComputeAlterations(sent.chains[0], change, answer))) {
          altered.push_back(std::move(key));
        }
      }
      // What the next plan makes of it. A quota with scopes goes, and comes back.
      const Plan next = ComputePlan(kept);
      REQUIRE(next.chains.size() == 1);
      const Change& first = next.chains[0].changes.front();
      CHECK(altered == AlterationKeys(ObjectOf(next.chains[0], first), FieldsOf(first)));
    }
  }
}

TEST_CASE("ComputeAlterations sees a finalizer that is put on again", "[core][kept]") {
  Observation cluster;
  cluster.team_spaces = {DeletedTeamSpaceNamed("red")};
  const auto [chain, change] = Planned<RemoveFinalizer>(cluster);
  CHECK(ComputeAlterations(chain, change, cluster.team_spaces[0]) == FieldsOf(change));
  cluster.team_spaces[0].finalizers = {"a/b"};
  CHECK(ComputeAlterations(chain, change, cluster.team_spaces[0]).empty());
}

TEST_CASE("AlterationError says which field, what was sent and what is kept", "[core][kept]") {
  CHECK(AlterationError({"ResourceQuota", "team-red", "team-quota"},
                        {{.path = "spec.hard.pods", .from = "2", .to = "7"}, {.path = "spec.scopes", .from = "x"}}) ==
        Error{ErrorCode::kInvalid,
              "ResourceQuota/team-red/team-quota: spec.hard.pods was sent as '7' and kept as '2', spec.scopes was sent "
              "as nothing and kept as 'x': an admission policy or webhook changes it"});
}

}  // namespace
}  // namespace cnpa
