// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/kept.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/overloaded.h"
#include "core/plan/describe.h"
#include "core/teamspace/plan.h"
#include "core/teamspace/setbacks.h"
#include "core/teamspace/status.h"
#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using Fields = std::vector<FieldChange>;

/// What became of `change`, by the objects of `kept`.
Fields Alterations(const Chain& chain, const Change& change, const Observation& kept) {
  const TeamSpace& team_space = kept.team_spaces.at(0);
  const auto space = [&](const OwnerReference& owner) {
    return AlterationsOf(kept.namespaces.at(0), chain.name, owner);
  };
  const auto quota = [&](const auto& hard) { return AlterationsOf(kept.quotas.at(0), hard); };
  return std::visit(
      Overloaded{[&](const AddFinalizer&) { return AlterationsOf(team_space, true); },
                 [&](const RemoveFinalizer&) { return AlterationsOf(team_space, false); },
                 [&](const CreateNamespace& sent) { return space(sent.owner); },
                 [&](const RepairNamespace& sent) { return space(sent.owner); },
                 [&](const CreateQuota& sent) { return quota(sent.hard); },
                 [&](const RepairQuota& sent) { return quota(sent.hard); },
                 [&](const WriteStatus& sent) { return AlterationsOf(team_space.status, sent.desired); },
                 [](const DeleteQuota&) { return Fields{}; }, [](const WriteArchive&) { return Fields{}; },
                 [](const CreateObject&) { return Fields{}; }, [](const PatchObject&) { return Fields{}; },
                 [](const DeleteObject&) { return Fields{}; }},
      change.effect);
}

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

TEST_CASE("AlterationsOf finds nothing in what was kept as it was sent", "[core][kept]") {
  Observation kept = ConvergedCluster({"red"});
  kept.namespaces[0].owners.insert(kept.namespaces[0].owners.begin(), OwnerOf("other"));
  kept.quotas[0].hard["requests.cpu"] = "2000m";  // The same amount.
  const Plan sent = ComputePlan(NewCluster());
  const Chain& chain = sent.chains.at(0);
  REQUIRE(chain.changes.size() == 4);
  for (const Change& planned : chain.changes) {
    const Change change = WithNamespaceUid(planned, kept.namespaces[0].uid);
    if (const auto* status = std::get_if<WriteStatus>(&change.effect)) {
      kept.team_spaces[0].status = status->desired;
      kept.team_spaces[0].status.ready_index = 3;                             // Behind those of others,
      kept.team_spaces[0].status.ready->last_transition_time = kEarlierText;  // and written by another pass.
    }
    CHECK(Alterations(chain, change, kept).empty());
  }
}

TEST_CASE("AlterationsOf is what a plan made from the answer would change", "[core][kept]") {
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
        for (std::string& key : AlterationKeys(object, Alterations(sent.chains[0], change, kept))) {
          altered.push_back(std::move(key));
        }
      }
      // What the next plan makes of it. A quota with scopes goes, and comes back.
      const Plan next = ComputePlan(kept);
      REQUIRE(next.chains.size() == 1);
      const Change& first = next.chains[0].changes.front();
      CHECK(altered == AlterationKeys(ObjectOf(next.chains[0], first), Describe(next.chains[0], first).fields));
    }
  }
}

TEST_CASE("AlterationsOf sees a finalizer that is put on again", "[core][kept]") {
  Observation cluster;
  cluster.team_spaces = {DeletedTeamSpaceNamed("red")};
  const auto [chain, change] = Planned<RemoveFinalizer>(cluster);
  CHECK(Alterations(chain, change, cluster) == Describe(chain, change).fields);
  cluster.team_spaces[0].finalizers = {"a/b"};
  CHECK(Alterations(chain, change, cluster).empty());
}

}  // namespace
}  // namespace cnpa
