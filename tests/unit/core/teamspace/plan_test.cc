// SPDX-License-Identifier: Apache-2.0
//
// What one pass writes for team spaces that live. The words of the cases are those of the contract.
#include "core/teamspace/plan.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/change.h"
#include "core/teamspace/status.h"
#include "support/builders.h"
#include "support/describe.h"

namespace cnpa {
namespace {

using Hard = std::map<std::string, std::string>;

const Hard kHard{{"pods", "6"}, {"requests.cpu", "2"}};

/// The status write of a team space whose objects are, or will be, as `generation` asks.
Change ReconciledChange(const TeamSpace& team_space) {
  return StatusChange(team_space.status,
                      ReconciledStatus(team_space.status, team_space.name, team_space.generation, kNow))
      .value();
}

Change RefusedChange(const TeamSpace& team_space, const Refusal& refusal, std::optional<std::string> namespace_name) {
  return StatusChange(team_space.status,
                      RefusedStatus(team_space.status, refusal, team_space.generation, std::move(namespace_name), kNow))
      .value();
}

Change RepairQuotaChange(const Quota& observed, const Hard& hard, std::vector<FieldChange> fields) {
  return {RepairQuota{observed.namespace_name, observed.uid, observed.hard, hard}, Cause::kDiffers, std::move(fields)};
}

std::vector<Change> ChangesOf(const Observation& observation, const std::string& name) {
  return ChainOf(ComputePlan(observation), name).changes;
}

TEST_CASE("ComputePlan of a converged cluster is empty", "[core][plan]") {
  const Plan plan = ComputePlan(ConvergedCluster({"blue", "red"}));
  CHECK(plan == Plan{.chains = {}, .team_spaces = 2, .computed_at = kNow});
  CHECK(plan.empty());
  CHECK(ComputePlan({}).empty());
}

TEST_CASE("ComputePlan makes for a new team space finalizer, namespace, quota and status, in this order",
          "[core][plan]") {
  Observation cluster = ConvergedCluster({});
  const TeamSpace red = NewTeamSpaceNamed("red");
  cluster.team_spaces = {red};
  const Chain want{.name = "red",
                   .uid = "uid-red",
                   .generation = 1,
                   .deleting = false,
                   .turn = Turn::kNew,
                   .changes = {{AddFinalizer{}, Cause::kMissing, {}},
                               {CreateNamespace{"team-red", OwnerOf("red")}, Cause::kMissing, {}},
                               {CreateQuota{"team-red", kHard},
                                Cause::kMissing,
                                {{"spec.hard.pods", std::nullopt, "6", std::nullopt},
                                 {"spec.hard.requests.cpu", std::nullopt, "2", std::nullopt}}},
                               ReconciledChange(red)},
                   .refusal = {},
                   .observed_status = {},
                   .namespace_name = {},
                   .crd = {}};
  CHECK(ComputePlan(cluster) == Plan{.chains = {want}, .team_spaces = 1, .computed_at = kNow});
}

TEST_CASE("ComputePlan puts the finalizer on behind others, which stay as they are", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.team_spaces[0].finalizers = {"b.example/two", "a.example/one"};
  CHECK(ChangesOf(cluster, "red") ==
        std::vector<Change>{{AddFinalizer{{"b.example/two", "a.example/one"}}, Cause::kMissing, {}}});
  cluster.team_spaces[0].finalizers = {"b.example/two", std::string(kFinalizer), "a.example/one"};
  CHECK(ComputePlan(cluster).empty());
}

TEST_CASE("ComputePlan makes a new quota where it was deleted by hand", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas.clear();
  const Chain chain = ChainOf(ComputePlan(cluster), "red");
  REQUIRE(chain.changes.size() == 1);
  CHECK(chain.changes[0].effect == Effect(CreateQuota{"team-red", kHard}));
  CHECK(chain.changes[0].cause == Cause::kMissing);
  CHECK(chain.turn == Turn::kRepair);
}

TEST_CASE("ComputePlan sets edited quota values back and says who edited them", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  const Writer kubectl{"kubectl-patch", "Update", "", kNow - std::chrono::seconds(4)};
  Quota& quota = cluster.quotas[0];
  quota.hard["pods"] = "99";
  quota.writers = {{"spec.hard.pods", kubectl}, {"spec.hard.count/secrets", kubectl}};
  CHECK(ChangesOf(cluster, "red") ==
        std::vector{RepairQuotaChange(quota, kHard, {{"spec.hard.pods", "99", "6", kubectl}})});
}

TEST_CASE("ComputePlan keeps spec.hard exactly ours", "[core][plan]") {
  struct Case {
    std::string name;
    Hard observed;
    std::vector<FieldChange> want;
  };
  const std::vector<Case> cases{
      {"extra keys are removed",
       {{"pods", "6"}, {"requests.cpu", "2"}, {"requests.memory", "1Gi"}},
       {{"spec.hard.requests.memory", "1Gi", std::nullopt, std::nullopt}}},
      {"a missing key is put back", {{"pods", "6"}}, {{"spec.hard.requests.cpu", std::nullopt, "2", std::nullopt}}},
      {"an empty quota is filled",
       {},
       {{"spec.hard.pods", std::nullopt, "6", std::nullopt},
        {"spec.hard.requests.cpu", std::nullopt, "2", std::nullopt}}},
      {"all at once",
       {{"cpu", "1"}, {"pods", "7"}, {"requests.cpu", "3"}},
       {{"spec.hard.pods", "7", "6", std::nullopt},
        {"spec.hard.requests.cpu", "3", "2", std::nullopt},
        {"spec.hard.cpu", "1", std::nullopt, std::nullopt}}},
      {"what is no quantity is replaced",
       {{"pods", "6"}, {"requests.cpu", "two"}},
       {{"spec.hard.requests.cpu", "two", "2", std::nullopt}}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Observation cluster = ConvergedCluster({"red"});
      cluster.quotas[0].hard = c.observed;
      CHECK(ChangesOf(cluster, "red") == std::vector{RepairQuotaChange(cluster.quotas[0], kHard, c.want)});
    }
  }
}

TEST_CASE("ComputePlan takes quantities as equal by value, never as text", "[core][plan]") {
  struct Case {
    std::string spec;
    std::string listed;
  };
  const std::vector<Case> cases{
      {"0.5", "500m"},  {"1000m", "1"}, {"1.0", "1"},       {"2000", "2k"},   {".5", "500m"},
      {"1e1", "10"},    {"+1", "1"},    {"1.250", "1250m"}, {"0.0001", "1m"}, {"1.2345678901", "1235m"},
      {"0.0015", "2m"}, {"1k", "1000"}, {"1e3", "1e3"}};
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.spec << " is kept as " << c.listed) {
      Observation cluster = ConvergedCluster({"red"});
      cluster.team_spaces[0].cpu = c.spec;
      cluster.quotas[0].hard["requests.cpu"] = c.listed;
      CHECK(ComputePlan(cluster).empty());
    }
  }
}

TEST_CASE("ComputePlan catches up with a spec that changed: quota first, then observedGeneration", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  TeamSpace& red = cluster.team_spaces[0];
  red.generation = 7;
  red.pods = 9;
  red.cpu = "2.5";
  CHECK(ChangesOf(cluster, "red") ==
        std::vector{RepairQuotaChange(cluster.quotas[0], {{"pods", "9"}, {"requests.cpu", "2.5"}},
                                      {{"spec.hard.pods", "6", "9", std::nullopt},
                                       {"spec.hard.requests.cpu", "2", "2.5", std::nullopt}}),
                    ReconciledChange(red)});
}

TEST_CASE("ComputePlan writes the status last, and alone where only it is behind", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  TeamSpace& red = cluster.team_spaces[0];
  SECTION("no status at all") {
    red.status = {};
  }
  SECTION("observedGeneration is behind") {
    red.generation = 2;
  }
  SECTION("observedGeneration is ahead") {
    red.status.observed_generation = 5;
  }
  SECTION("the namespace is not told") {
    red.status.namespace_name = std::nullopt;
  }
  SECTION("another namespace is told") {
    red.status.namespace_name = "team-blue";
  }
  SECTION("there is no Ready") {
    red.status.ready = std::nullopt;
  }
  SECTION("Ready is False") {
    red.status.ready->status = "False";
  }
  SECTION("Ready has another message") {
    red.status.ready->message = "all is well";
  }
  SECTION("Ready has another generation") {
    red.status.ready->observed_generation = 9;
  }
  CHECK(ChangesOf(cluster, "red") == std::vector{ReconciledChange(red)});
}

TEST_CASE("ComputePlan changes nothing because of time alone", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.observed_at += std::chrono::hours(24 * 365);
  CHECK(ComputePlan(cluster).empty());
}

TEST_CASE("ComputePlan re-creates a namespace that was deleted by hand, and has the status tell its uid",
          "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.namespaces.clear();
  cluster.quotas.clear();
  const Chain chain = ChainOf(ComputePlan(cluster), "red");
  REQUIRE(chain.changes.size() == 3);
  CHECK(chain.changes[0] == Change{CreateNamespace{"team-red", OwnerOf("red")}, Cause::kMissing, {}});
  CHECK(chain.changes[1].effect == Effect(CreateQuota{"team-red", kHard}));
  CHECK(std::get<WriteStatus>(chain.changes[2].effect).awaits_uid);
  CHECK(chain.turn == Turn::kRepair);  // It was served before: not a new one.
}

TEST_CASE("ComputePlan repairs label and ownerReference of our namespace", "[core][plan]") {
  const std::string label = "metadata.labels['platform.labhub.io/teamspace']";
  const OwnerReference deployment{"apps/v1", "Deployment", "x", "uid-x"};
  struct Case {
    std::string name;
    std::function<void(Namespace&)> drift;
    RepairNamespace want;
    std::vector<FieldChange> fields;
  };
  const auto repair = [](Claim claim, bool set_label, OwnerRepair owner_repair, std::size_t index = 0,
                         const std::string& expected_uid = {}) {
    return RepairNamespace{.name = "team-red",
                           .uid = "uid-team-red",
                           .claim = claim,
                           .set_label = set_label,
                           .owner_repair = owner_repair,
                           .index = index,
                           .expected_uid = expected_uid,
                           .owner = OwnerOf("red")};
  };
  const std::vector<Case> cases{
      {"the label was removed",
       [](Namespace& space) { space.team_space_label = std::nullopt; },
       repair(Claim::kOwner, true, OwnerRepair::kNone, 0, "uid-red"),
       {{label, std::nullopt, "red", std::nullopt}}},
      {"the label was changed, and who did it is known",
       [](Namespace& space) {
         space.team_space_label = "blue";
         space.writers[LabelPath()] = Writer{"kubectl-label", "Update", "", kNow};
       },
       repair(Claim::kOwner, true, OwnerRepair::kNone, 0, "uid-red"),
       {{label, "blue", "red", Writer{"kubectl-label", "Update", "", kNow}}}},
      {"the ownerReference was removed: label present, no ownerReference is ours",
       [](Namespace& space) { space.owners.clear(); },
       repair(Claim::kLabel, false, OwnerRepair::kCreateList),
       {{"metadata.ownerReferences", std::nullopt, "uid-red", std::nullopt}}},
      {"the ownerReference was removed and others are there, which stay",
       [&](Namespace& space) { space.owners = {deployment}; },
       repair(Claim::kLabel, false, OwnerRepair::kAppend),
       {{"metadata.ownerReferences", std::nullopt, "uid-red", std::nullopt}}},
      {"the ownerReference has a stale uid of the same TeamSpace name: replaced by the live uid",
       [](Namespace& space) { space.owners = {OwnerOf("red", "uid-old")}; },
       repair(Claim::kLabel, false, OwnerRepair::kReplace, 0, "uid-old"),
       {{"metadata.ownerReferences", "uid-old", "uid-red", std::nullopt}}},
      {"the stale one stands behind another's, which stays",
       [&](Namespace& space) {
         space.owners = {deployment, OwnerOf("red", "uid-old")};
       },
       repair(Claim::kLabel, false, OwnerRepair::kReplace, 1, "uid-old"),
       {{"metadata.ownerReferences", "uid-old", "uid-red", std::nullopt}}},
      {"the stale one is of another version of our API",
       [](Namespace& space) {
         space.owners = {{"platform.labhub.io/v1", "TeamSpace", "red", "uid-old"}};
       },
       repair(Claim::kLabel, false, OwnerRepair::kReplace, 0, "uid-old"),
       {{"metadata.ownerReferences", "uid-old", "uid-red", std::nullopt}}},
      {"our uid, but another version of our API",
       [](Namespace& space) {
         space.owners = {{"platform.labhub.io/v1", "TeamSpace", "red", "uid-red"}};
       },
       repair(Claim::kOwner, false, OwnerRepair::kReplace, 0, "uid-red"),
       {{"metadata.ownerReferences", "platform.labhub.io/v1 TeamSpace/red", "platform.labhub.io/v1alpha1 TeamSpace/red",
         std::nullopt}}},
      {"our uid with wrong fields wins over a stale one before it",
       [](Namespace& space) {
         space.owners = {OwnerOf("red", "uid-old"), {"platform.labhub.io/v1", "TeamSpace", "red", "uid-red"}};
       },
       repair(Claim::kOwner, false, OwnerRepair::kReplace, 1, "uid-red"),
       {{"metadata.ownerReferences", "platform.labhub.io/v1 TeamSpace/red", "platform.labhub.io/v1alpha1 TeamSpace/red",
         std::nullopt}}},
      {"the label was removed, and ours stands behind another's",
       [&](Namespace& space) {
         space.team_space_label = std::nullopt;
         space.owners = {deployment, OwnerOf("red")};
       },
       repair(Claim::kOwner, true, OwnerRepair::kNone, 1, "uid-red"),
       {{label, std::nullopt, "red", std::nullopt}}},
      {"both were removed, and the status remembers its uid",
       [](Namespace& space) {
         space.team_space_label = std::nullopt;
         space.owners.clear();
       },
       repair(Claim::kUid, true, OwnerRepair::kCreateList),
       {{label, std::nullopt, "red", std::nullopt},
        {"metadata.ownerReferences", std::nullopt, "uid-red", std::nullopt}}},
      {"both were changed, and the status remembers its uid",
       [&](Namespace& space) {
         space.team_space_label = "blue";
         space.owners = {deployment};
       },
       repair(Claim::kUid, true, OwnerRepair::kAppend),
       {{label, "blue", "red", std::nullopt}, {"metadata.ownerReferences", std::nullopt, "uid-red", std::nullopt}}},
      {"both at once, for our uid proves that it is ours",
       [](Namespace& space) {
         space.team_space_label = std::nullopt;
         space.owners = {{"platform.labhub.io/v1", "TeamSpace", "red", "uid-red"}};
       },
       repair(Claim::kOwner, true, OwnerRepair::kReplace, 0, "uid-red"),
       {{label, std::nullopt, "red", std::nullopt},
        {"metadata.ownerReferences", "platform.labhub.io/v1 TeamSpace/red", "platform.labhub.io/v1alpha1 TeamSpace/red",
         std::nullopt}}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Observation cluster = ConvergedCluster({"red"});
      c.drift(cluster.namespaces[0]);
      CHECK(ChangesOf(cluster, "red") == std::vector<Change>{{c.want, Cause::kDiffers, c.fields}});
    }
  }
}

TEST_CASE("ComputePlan leaves other ownerReferences beside ours alone", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.namespaces[0].owners = {
      {"apps/v1", "Deployment", "x", "uid-x"}, OwnerOf("red"), {"v1", "ConfigMap", "y", "uid-y"}};
  CHECK(ComputePlan(cluster).empty());
}

TEST_CASE("ComputePlan adopts a namespace only with our label or our uid", "[core][plan]") {
  const OwnerReference deployment{"apps/v1", "Deployment", "red", "uid-x"};
  const std::string not_ours =
      "namespace team-red exists and is not ours: take another name, or hand it over (it is then deleted with the "
      "TeamSpace): kubectl label namespace team-red --overwrite platform.labhub.io/teamspace=red";
  const std::string of_blue = "namespace team-red belongs to TeamSpace blue";
  struct Case {
    std::string name;
    std::optional<std::string> label;
    std::vector<OwnerReference> owners;
    std::string conflict;  // Empty: adopted, so that no one is refused.
    std::optional<std::string> remembered = std::nullopt;
  };
  const std::vector<Case> cases{
      {"existed before, without our label and without our ownerReference", std::nullopt, {}, not_ours},
      {"our label for this TeamSpace: an admin's opt-in", "red", {}, ""},
      {"our label for this TeamSpace, and an owner of another kind", "red", {deployment}, ""},
      {"our label and a stale uid of the same TeamSpace name", "red", {OwnerOf("red", "uid-old")}, ""},
      {"our uid without a label", std::nullopt, {OwnerOf("red")}, ""},
      {"our uid and the label of another TeamSpace", "blue", {OwnerOf("red")}, ""},
      {"the label of another TeamSpace", "blue", {}, not_ours},
      {"an empty label", "", {}, not_ours},
      {"a stale uid of the same name, without our label", std::nullopt, {OwnerOf("red", "uid-old")}, not_ours},
      {"an owner of another kind and our name", std::nullopt, {deployment}, not_ours},
      {"owned by another TeamSpace (other uid and name)", std::nullopt, {OwnerOf("blue")}, of_blue},
      {"owned by another TeamSpace, though it has our label", "red", {OwnerOf("blue")}, of_blue},
      {"owned by another TeamSpace beside a stale one of ours",
       "red",
       {OwnerOf("red", "uid-old"), OwnerOf("blue")},
       of_blue},
      {"owned by another TeamSpace of another version",
       "red",
       {{"platform.labhub.io/v1", "TeamSpace", "blue", "uid-blue"}},
       of_blue},
      {"owned by another TeamSpace and by ours", "red", {OwnerOf("blue"), OwnerOf("red")}, ""},
      {"a TeamSpace of another group owns it", "red", {{"example.org/v1", "TeamSpace", "blue", "uid-b"}}, ""},
      {"neither label nor ownerReference, but the uid that the status remembers", std::nullopt, {}, "", "uid-team-red"},
      {"neither, and the status remembers one that was deleted since", std::nullopt, {}, not_ours, "uid-earlier"},
      {"owned by another TeamSpace, though the status remembers it",
       std::nullopt,
       {OwnerOf("blue")},
       of_blue,
       "uid-team-red"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Observation cluster = ConvergedCluster({"red"});
      cluster.team_spaces[0].status.namespace_uid = c.remembered;
      cluster.namespaces[0].team_space_label = c.label;
      cluster.namespaces[0].owners = c.owners;
      cluster.quotas[0].hard["pods"] = "99";
      const Chain chain = ChainOf(ComputePlan(cluster), "red");
      if (c.conflict.empty()) {
        CHECK(chain.refusal == std::nullopt);
        CHECK(chain.namespace_name == "team-red");
        CHECK_FALSE(chain.changes.empty());
        return;
      }
      const Refusal refusal{Reason::kNamespaceConflict, c.conflict};
      CHECK(chain.refusal == refusal);
      // Never changed, nor what is in it: only the status tells it, and no longer names the namespace.
      CHECK(chain.changes == std::vector{RefusedChange(cluster.team_spaces[0], refusal, std::nullopt)});
    }
  }
}

TEST_CASE("ComputePlan waits for a Terminating namespace and writes nothing into it", "[core][plan]") {
  const Refusal waiting{Reason::kNamespaceTerminating,
                        "namespace team-red is being deleted; it is re-created once it is gone"};
  Observation cluster = ConvergedCluster({"red"});
  cluster.namespaces[0].terminating = true;
  SECTION("with a quota that differs") {
    cluster.quotas[0].hard["pods"] = "99";
  }
  SECTION("without a quota") {
    cluster.quotas.clear();
  }
  SECTION("without label and ownerReference of a right kind") {
    cluster.namespaces[0].owners = {OwnerOf("red", "uid-old")};
  }
  const Chain chain = ChainOf(ComputePlan(cluster), "red");
  CHECK(chain.refusal == waiting);
  CHECK(chain.changes == std::vector{RefusedChange(cluster.team_spaces[0], waiting, "team-red")});
}

TEST_CASE("ComputePlan waits for a Terminating namespace of somebody else too", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.namespaces[0] = ForeignNamespaceFor("red");
  cluster.namespaces[0].terminating = true;
  const Chain chain = ChainOf(ComputePlan(cluster), "red");
  REQUIRE(chain.refusal);
  CHECK(chain.refusal->reason == Reason::kNamespaceTerminating);
  CHECK(chain.changes == std::vector{RefusedChange(cluster.team_spaces[0], *chain.refusal, std::nullopt)});
}

TEST_CASE("ComputePlan deletes and creates anew a quota with scopes, whatever its values", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas[0].scoped = true;
  cluster.quotas[0].scopes = "BestEffort";
  CHECK(ChangesOf(cluster, "red") ==
        std::vector<Change>{
            {DeleteQuota{"team-red", "uid-quota-red"}, Cause::kScoped, {{"spec.scopes", "BestEffort", std::nullopt}}},
            {CreateQuota{"team-red", kHard},
             Cause::kMissing,
             {{"spec.hard.pods", std::nullopt, "6", std::nullopt},
              {"spec.hard.requests.cpu", std::nullopt, "2", std::nullopt}}}});
}

TEST_CASE("ComputePlan waits for a quota with scopes that others hold, and says who does", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  Quota& quota = cluster.quotas[0];
  quota.scoped = true;
  quota.scopes = "BestEffort";
  const auto refusal = [](const std::string& holders) {
    return Refusal{Reason::kQuotaRefused,
                   "ResourceQuota team-red/team-quota has scopes (BestEffort) and is being deleted" + holders +
                       ": it is re-created once it is gone"};
  };
  const Change deleted{
      DeleteQuota{"team-red", "uid-quota-red"}, Cause::kScoped, {{"spec.scopes", "BestEffort", std::nullopt}}};
  const TeamSpace& red = cluster.team_spaces[0];
  SECTION("it is not being deleted yet: that is begun, and no more") {
    quota.finalizers = {"a.example/hold"};
    const Refusal held = refusal(", but the finalizer 'a.example/hold' holds it");
    CHECK(ChainOf(ComputePlan(cluster), "red").refusal == held);
    CHECK(ChangesOf(cluster, "red") == std::vector{deleted, RefusedChange(red, held, "team-red")});
  }
  SECTION("it is: nothing is written but why") {
    quota.terminating = true;
    quota.finalizers = {"a.example/hold", "b.example/hold"};
    const Refusal held = refusal(", but the finalizers 'a.example/hold', 'b.example/hold' hold it");
    CHECK(ChangesOf(cluster, "red") == std::vector{RefusedChange(red, held, "team-red")});
  }
  SECTION("it is, and nobody holds it") {
    quota.terminating = true;
    CHECK(ChangesOf(cluster, "red") == std::vector{RefusedChange(red, refusal(""), "team-red")});
  }
}

TEST_CASE("ComputePlan keeps a quota without scopes right while it is being deleted: it binds until it is gone",
          "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  Quota& quota = cluster.quotas[0];
  quota.terminating = true;
  quota.finalizers = {"a.example/hold"};
  CHECK(ComputePlan(cluster).empty());
  quota.hard["pods"] = "99";
  CHECK(ChangesOf(cluster, "red") ==
        std::vector{RepairQuotaChange(quota, kHard, {{"spec.hard.pods", "99", "6", std::nullopt}})});
}

TEST_CASE("ComputePlan creates the quota of a namespace that is gone, whatever was listed of it", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.namespaces.clear();
  cluster.quotas[0].hard["pods"] = "99";
  REQUIRE(ChangesOf(cluster, "red").size() == 3);
  CHECK(ChangesOf(cluster, "red")[1].effect == Effect(CreateQuota{"team-red", kHard}));
}

TEST_CASE("ComputePlan has the status tell the uid of the namespace only where the CRD has a place for it",
          "[core][plan]") {
  Observation cluster = ConvergedCluster({"blue", "red"});
  for (TeamSpace& team_space : cluster.team_spaces) team_space.status.namespace_uid = std::nullopt;
  SECTION("an older CRD, or one that can't be read: converged without it") {
    CHECK(ComputePlan(cluster).empty());
    // And nothing of it is awaited where the namespace is created.
    cluster.namespaces.clear();
    for (const Chain& chain : ComputePlan(cluster).chains) CHECK(chain.changes.size() == 2);
  }
  const Change told{WriteStatus{cluster.team_spaces[1].status, TeamSpaceNamed("red").status},
                    Cause::kBehind,
                    {{"status.namespaceUID", std::nullopt, "uid-team-red", std::nullopt}}};
  SECTION("an upgraded CRD: one write each, and nobody removed anything") {
    cluster.crd.has_namespace_uid = true;
    cluster.team_spaces[1].status_trace.ours = kNow;
    CHECK(ChangesOf(cluster, "red") == std::vector<Change>{told});
    CHECK(ChangesOf(cluster, "blue").size() == 1);
  }
  SECTION("another team space shows that the CRD has it") {
    cluster.team_spaces[0].status.namespace_uid = std::string("uid-team-blue");
    CHECK(ChangesOf(cluster, "red") == std::vector<Change>{told});
    CHECK(ChangesOf(cluster, "blue").empty());
  }
  SECTION("the namespace is another one than it was") {
    cluster.team_spaces[0].status.namespace_uid = std::string("uid-team-blue");
    cluster.team_spaces[1].status.namespace_uid = std::string("uid-earlier");
    REQUIRE(ChangesOf(cluster, "red").size() == 1);
    CHECK(ChangesOf(cluster, "red")[0].fields ==
          std::vector<FieldChange>{{"status.namespaceUID", "uid-earlier", "uid-team-red", std::nullopt}});
  }
}

TEST_CASE("ComputePlan refuses a name or a quantity that can't be served, for this one only", "[core][plan]") {
  const std::string long_name(59, 'a');
  struct Case {
    std::string name;
    std::string team_space;
    std::string cpu;
    Reason want;
  };
  const std::vector<Case> cases{
      {"name too long", long_name, "2", Reason::kInvalidName},
      {"name with a dot", "a.b", "2", Reason::kInvalidName},
      {"spec.cpu not a quantity", "red", "lots", Reason::kInvalidQuantity},
      {"spec.cpu zero", "red", "0", Reason::kInvalidQuantity},
      {"a quantity with a huge exponent", "red", "1e10000000000", Reason::kInvalidQuantity},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Observation cluster = ConvergedCluster({"green"});
      TeamSpace bad = NewTeamSpaceNamed(c.team_space);
      bad.cpu = c.cpu;
      cluster.team_spaces.push_back(bad);
      cluster.quotas[0].hard["pods"] = "99";
      const Plan plan = ComputePlan(cluster);
      const Chain chain = ChainOf(plan, c.team_space);
      REQUIRE(chain.refusal);
      CHECK(chain.refusal->reason == c.want);
      CHECK(chain.changes == std::vector<Change>{{AddFinalizer{}, Cause::kMissing, {}},
                                                 RefusedChange(bad, *chain.refusal, std::nullopt)});
      CHECK(ChainOf(plan, "green").changes.size() == 1);  // One bad TeamSpace stops nobody else.
    }
  }
}

TEST_CASE("ComputePlan leaves an existing namespace alone while the spec is refused, and still names it",
          "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  TeamSpace& red = cluster.team_spaces[0];
  red.cpu = "lots";
  red.generation = 2;
  cluster.namespaces[0].team_space_label = std::nullopt;
  cluster.quotas[0].hard["pods"] = "99";
  const Chain chain = ChainOf(ComputePlan(cluster), "red");
  REQUIRE(chain.refusal);
  CHECK(chain.refusal->reason == Reason::kInvalidQuantity);
  CHECK(chain.changes == std::vector{RefusedChange(red, *chain.refusal, "team-red")});
}

TEST_CASE("ComputePlan writes nothing for a lasting refusal that the status tells already", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  TeamSpace& red = cluster.team_spaces[0];
  SECTION("NamespaceConflict") {
    cluster.namespaces[0] = ForeignNamespaceFor("red");
  }
  SECTION("NamespaceTerminating") {
    cluster.namespaces[0].terminating = true;
  }
  SECTION("InvalidQuantity") {
    red.cpu = "lots";
  }
  SECTION("InvalidQuantity at a later generation") {
    red.cpu = "lots";
    red.generation = 5;
  }
  const Chain first = ChainOf(ComputePlan(cluster), "red");
  REQUIRE(first.changes.size() == 1);
  red.status = std::get<WriteStatus>(first.changes[0].effect).desired;
  cluster.observed_at += std::chrono::hours(1);
  const Plan second = ComputePlan(cluster);
  CHECK(second.empty());
  CHECK(ChainOf(second, "red").refusal == first.refusal);
}

TEST_CASE("ComputePlan plans nothing for what could not be read", "[core][plan]") {
  Observation cluster = ConvergedCluster({"blue", "red"});
  const std::string why = "cannot read it";
  SECTION("the TeamSpace") {
    cluster.team_spaces[1].unreadable = why;
    cluster.team_spaces[1].pods = std::nullopt;
  }
  SECTION("its namespace") {
    cluster.namespaces[1].unreadable = why;
  }
  SECTION("its quota") {
    cluster.quotas[1].unreadable = why;
  }
  cluster.quotas[0].hard["pods"] = "99";
  cluster.quotas[1].hard["pods"] = "99";
  cluster.team_spaces[1].finalizers.clear();
  const Plan plan = ComputePlan(cluster);
  CHECK(ChainOf(plan, "red").changes.empty());
  CHECK(ChainOf(plan, "red").refusal == Refusal{Reason::kUnreadable, why});
  CHECK(ChainOf(plan, "blue").changes.size() == 1);
}

TEST_CASE("ComputePlan says that a CRD without status subresource, or pruning what we write, is unfit",
          "[core][plan]") {
  const Refusal unfit{Reason::kCrdUnfit,
                      "the TeamSpace CRD has no status subresource, or drops observedGeneration or namespace "
                      "from it, so nobody can see what is done: cnpa-op crd | kubectl apply -f -"};
  Observation cluster = ConvergedCluster({"blue", "red"});
  cluster.crd.has_status = false;
  for (TeamSpace& team_space : cluster.team_spaces) team_space.status = {};
  cluster.quotas[1].hard["pods"] = "99";
  const Plan plan = ComputePlan(cluster);
  CHECK(ChainOf(plan, "blue").refusal == unfit);
  CHECK(ChainOf(plan, "blue").changes.empty());
  CHECK(ChainOf(plan, "red").refusal == unfit);
  CHECK(ChainOf(plan, "red").changes.size() == 1);  // The quota is repaired all the same; no status is written.
  cluster.namespaces[1] = ForeignNamespaceFor("red");
  CHECK(ChainOf(ComputePlan(cluster), "red").refusal->reason == Reason::kNamespaceConflict);
}

TEST_CASE("ComputePlan writes observedGeneration and namespace alone where the CRD has only the seed's fields",
          "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  TeamSpace& red = cluster.team_spaces[0];
  red.status = {};
  cluster.crd.has_conditions = false;
  const Chain chain = ChainOf(ComputePlan(cluster), "red");
  CHECK(chain.refusal == std::nullopt);
  REQUIRE(chain.changes.size() == 1);
  TeamSpaceStatus want;
  want.observed_generation = 1;
  want.namespace_name = "team-red";
  CHECK(std::get<WriteStatus>(chain.changes[0].effect).desired == want);
  red.status = want;
  red.status.present = true;
  CHECK(ComputePlan(cluster).empty());
  cluster.namespaces[0] = ForeignNamespaceFor("red");
  const Chain refused = ChainOf(ComputePlan(cluster), "red");
  REQUIRE(refused.changes.size() == 1);  // Only that the namespace is not ours.
  CHECK(std::get<WriteStatus>(refused.changes[0].effect).desired.ready == std::nullopt);
}

TEST_CASE("ComputePlan ignores namespaces and quotas without a TeamSpace", "[core][plan]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.namespaces.push_back(NamespaceFor("gone"));
  cluster.namespaces.push_back(ForeignNamespaceFor("sports"));
  cluster.quotas.push_back(QuotaFor("gone"));
  cluster.quotas.push_back(QuotaFor("nowhere"));
  CHECK(ComputePlan(cluster).empty());
}

TEST_CASE("ComputePlan orders deletions first, then repairs, then new ones, each by name", "[core][plan]") {
  Observation cluster = ConvergedCluster({"e", "d"});
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  for (const std::string name : {"b", "a"}) cluster.team_spaces.push_back(NewTeamSpaceNamed(name));
  for (const std::string name : {"z", "y"}) cluster.team_spaces.push_back(DeletedTeamSpaceNamed(name));
  const Plan plan = ComputePlan(cluster);
  std::string names;
  for (const Chain& chain : plan.chains) names += chain.name;
  CHECK(names == "yzdeab");
  CHECK(plan.team_spaces == 6);
}

TEST_CASE("ComputePlan does not depend on the order of the lists", "[core][plan]") {
  Observation cluster = ConvergedCluster({"a", "b", "c", "d"});
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  Observation reversed = cluster;
  std::reverse(reversed.team_spaces.begin(), reversed.team_spaces.end());
  std::reverse(reversed.namespaces.begin(), reversed.namespaces.end());
  std::reverse(reversed.quotas.begin(), reversed.quotas.end());
  CHECK(ComputePlan(reversed) == ComputePlan(cluster));
}

TEST_CASE("Plan::empty is about writes: a refusal alone is none", "[core][plan]") {
  CHECK(Plan().empty());
  Plan plan{.chains = {Chain{.refusal = Refusal{Reason::kUnreadable, ""}}}};
  CHECK(plan.empty());
  plan.chains[0].changes.push_back({AddFinalizer{}, Cause::kMissing, {}});
  CHECK_FALSE(plan.empty());
}

}  // namespace
}  // namespace cnpa
