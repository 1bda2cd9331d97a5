// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/explanation.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/teamspace/explain.h"
#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

const Writer kOurs{"cnpa-op", "Update", "", kNow - std::chrono::seconds(60)};
const Writer kSomebody{"kubectl-patch", "Update", "", kNow};

/// A cluster with one team space, in sync, and how it is seen.
struct Seen {
  Observation cluster = ConvergedCluster({"red"});
  CloseSights sights;

  Seen() {
    for (ObjectSight* sight : {&sights.team_space, &sights.space, &sights.quota}) sight->created = kEarlierText;
    sights.team_space.writers = {{std::string(kFinalizersPath), kOurs}, {ReadyMemberPath("status"), kOurs}};
    sights.space.writers = {{LabelPath(), kOurs}, {OwnerPath("uid-red"), kOurs}};
    sights.quota.writers = {{"spec.hard.pods", kOurs}};
    sights.quota.used = {{"pods", "3"}};
  }

  Explanation Explain() const { return ComputeExplanation(cluster, sights, ComputePlan(cluster), "red"); }
};

const ObjectFinding& ObjectOf(const Explanation& explanation, std::string_view kind) {
  for (const ObjectFinding& object : explanation.objects) {
    if (object.kind == kind) return object;
  }
  FAIL("there is no " << kind);
  return explanation.objects.front();
}

FieldFinding FieldOf(const Explanation& explanation, const std::string& path) {
  for (const ObjectFinding& object : explanation.objects) {
    for (const FieldFinding& field : object.fields) {
      if (field.path == path) return field;
    }
  }
  FAIL("there is no " << path);
  return {};
}

std::vector<std::string> Differences(const Explanation& explanation) {
  std::vector<std::string> paths;
  for (const ObjectFinding& object : explanation.objects) {
    for (const FieldFinding& field : object.fields) {
      if (field.differs) paths.push_back(field.path);
    }
  }
  return paths;
}

TEST_CASE("ComputeExplanation has each field that is ours, as found and as wanted, and who set it",
          "[core][explanation]") {
  const Explanation explanation = Seen().Explain();
  CHECK(explanation.standing == Standing::kInSync);
  CHECK_FALSE(explanation.chain);
  CHECK(explanation.holds.empty());
  REQUIRE(explanation.objects.size() == 3);
  const std::string finalizer(kFinalizer);
  CHECK(FieldOf(explanation, "metadata.finalizers") ==
        FieldFinding{.path = "metadata.finalizers", .wanted = finalizer, .found = finalizer, .writer = kOurs});
  CHECK(FieldOf(explanation, LabelPath()) ==
        FieldFinding{.path = LabelPath(), .wanted = "red", .found = "red", .writer = kOurs});
  CHECK(FieldOf(explanation, "metadata.ownerReferences") ==
        FieldFinding{.path = "metadata.ownerReferences", .wanted = "uid-red", .found = "uid-red", .writer = kOurs});
  CHECK(FieldOf(explanation, "spec.hard.pods") ==
        FieldFinding{.path = "spec.hard.pods", .wanted = "6", .found = "6", .writer = kOurs, .used = "3"});
  CHECK(FieldOf(explanation, "status.observedGeneration").found == "1");
  CHECK(FieldOf(explanation, std::string(kReadyConditionPath)).found == "True (Reconciled)");
  CHECK(FieldOf(explanation, std::string(kReadyConditionPath)).writer == kOurs);
  const ObjectFinding& quota = ObjectOf(explanation, "ResourceQuota");
  CHECK(quota.namespace_name == "team-red");
  CHECK(quota.created == kEarlierText);
}

TEST_CASE("ComputeExplanation says how a team space stands", "[core][explanation]") {
  struct Case {
    std::string name;
    std::function<void(Seen&)> change;
    Standing want;
    Presence space;
  };
  const std::vector<Case> cases{
      {"in sync", [](Seen&) {}, Standing::kInSync, Presence::kThere},
      {"drifted", [](Seen& seen) { seen.cluster.quotas[0].hard["pods"] = "9"; }, Standing::kOutOfSync,
       Presence::kThere},
      {"new",
       [](Seen& seen) {
         seen.cluster = ConvergedCluster({});
         seen.cluster.team_spaces = {NewTeamSpaceNamed("red")};
       },
       Standing::kNew, Presence::kMissing},
      {"its namespace is gone", [](Seen& seen) { seen.cluster.namespaces.clear(); }, Standing::kOutOfSync,
       Presence::kMissing},
      {"refused", [](Seen& seen) { seen.cluster.namespaces[0] = ForeignNamespaceFor("red"); }, Standing::kRefused,
       Presence::kForeign},
      {"waiting", [](Seen& seen) { seen.cluster.namespaces[0].terminating = true; }, Standing::kWaiting,
       Presence::kDeleting},
      {"deleting", [](Seen& seen) { seen.cluster.team_spaces[0] = DeletedTeamSpaceNamed("red"); }, Standing::kDeleting,
       Presence::kThere},
      {"gone, its namespace is going",
       [](Seen& seen) {
         seen.cluster.team_spaces.clear();
         seen.cluster.namespaces[0].terminating = true;
       },
       Standing::kUnknown, Presence::kDeleting},
      {"unreadable", [](Seen& seen) { seen.cluster.quotas[0].unreadable = "cannot read it"; }, Standing::kRefused,
       Presence::kThere},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Seen seen;
      c.change(seen);
      const Explanation explanation = seen.Explain();
      CHECK(explanation.standing == c.want);
      CHECK(ObjectOf(explanation, "Namespace").presence == c.space);
    }
  }
  CHECK(ComputeExplanation({}, {}, {}, "red").objects.empty());
}

TEST_CASE("ComputeExplanation takes of differences what the plan says", "[core][explanation]") {
  Seen seen;
  seen.cluster.quotas[0].hard = {{"pods", "99"}, {"requests.cpu", "2000m"}, {"configmaps", "1"}};
  seen.cluster.quotas[0].writers = {{"spec.hard.pods", kSomebody}};
  seen.cluster.namespaces[0].team_space_label.reset();
  seen.cluster.namespaces[0].trace = {kNow, {}};
  const Explanation explanation = seen.Explain();
  CHECK(Differences(explanation) == std::vector<std::string>{LabelPath(), "spec.hard.pods", "spec.hard.configmaps"});
  CHECK(FieldOf(explanation, "spec.hard.pods") ==
        FieldFinding{
            .path = "spec.hard.pods", .wanted = "6", .found = "99", .differs = true, .writer = kSomebody, .used = "3"});
  CHECK(FieldOf(explanation, "spec.hard.requests.cpu").found == "2000m");
  CHECK(FieldOf(explanation, "spec.hard.configmaps").wanted == std::nullopt);
  CHECK(FieldOf(explanation, LabelPath()).absence == Absence{true, {kNow, {}}});
}

TEST_CASE("ComputeExplanation wants all of what is not there, and nothing of what is another's",
          "[core][explanation]") {
  Seen seen;
  seen.cluster = ConvergedCluster({});
  seen.cluster.team_spaces = {NewTeamSpaceNamed("red")};
  seen.sights = {};
  const Explanation fresh = seen.Explain();
  CHECK(Differences(fresh).size() == 8);
  CHECK(FieldOf(fresh, "spec.hard.pods").wanted == "6");
  CHECK(FieldOf(fresh, "metadata.finalizers").wanted == std::string(kFinalizer));
  Seen unserved;
  unserved.cluster.team_spaces[0].cpu = "many";
  const Explanation as_it_is = unserved.Explain();
  CHECK(FieldOf(as_it_is, "spec.hard.requests.cpu").found == "2");
  CHECK(FieldOf(as_it_is, "spec.hard.requests.cpu").wanted == std::nullopt);
  Seen refused;
  refused.cluster.namespaces[0] = ForeignNamespaceFor("red");
  refused.cluster.namespaces[0].owners = {OwnerOf("blue")};
  const Explanation foreign = refused.Explain();
  CHECK(foreign.objects.size() == 2);
  CHECK(FieldOf(foreign, "metadata.ownerReferences").found == "TeamSpace/blue");
  CHECK(FieldOf(foreign, LabelPath()).wanted == std::nullopt);
}

TEST_CASE("ComputeExplanation names what holds a deletion, apart from us", "[core][explanation]") {
  Seen seen;
  const Condition remaining{.type = "NamespaceContentRemaining", .status = "True", .message = "pods"};
  seen.sights.team_space.finalizers = {"a.example/x"};
  seen.sights.space.finalizers = {"a.example/y"};
  seen.sights.space.conditions = {remaining};
  CHECK(seen.Explain().holds.empty());
  seen.cluster.namespaces[0].terminating = true;
  seen.sights.team_space.finalizers = {"a.example/x", std::string(kFinalizer)};
  seen.sights.team_space.deleted = kEarlierText;
  CHECK(seen.Explain().holds == std::vector<Hold>{{"TeamSpace", "red", "a.example/x", ""},
                                                  {"Namespace", "team-red", "a.example/y", ""},
                                                  {"Namespace", "team-red", "NamespaceContentRemaining", "pods"}});
}

TEST_CASE("ComputeExplanation tells what the last pass ran into, while the next will try that again",
          "[core][explanation]") {
  Seen seen;
  Condition& ready = *seen.cluster.team_spaces[0].status.ready;
  ready.status = "False";
  ready.reason = "QuotaRefused";
  CHECK_FALSE(seen.Explain().told);  // Only the status is behind: nothing is tried again.
  seen.cluster.quotas.clear();
  ready.observed_generation = seen.cluster.team_spaces[0].generation;
  CHECK(seen.Explain().told == ready);
  seen.cluster.namespaces[0] = ForeignNamespaceFor("red");
  CHECK_FALSE(seen.Explain().told);
}

TEST_CASE("ComputeExplanation: what the server refused for this very spec is refused", "[core][explanation]") {
  struct Case {
    std::string reason;
    std::int64_t generation;
    Standing want;
  };
  const std::int64_t now = Seen().cluster.team_spaces[0].generation;
  const std::vector<Case> cases{
      {"Forbidden", now, Standing::kRefused},           {"QuotaRefused", now, Standing::kRefused},
      {"WriteFailed", now, Standing::kRefused},         {"WriteFailed", now - 1, Standing::kOutOfSync},
      {"NamespaceConflict", now, Standing::kOutOfSync}, {"NamespaceTerminating", now, Standing::kOutOfSync},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.reason << " " << c.generation) {
      Seen seen;
      seen.cluster.quotas.clear();
      Condition& ready = *seen.cluster.team_spaces[0].status.ready;
      ready.status = "False";
      ready.reason = c.reason;
      ready.observed_generation = c.generation;
      CHECK(seen.Explain().standing == c.want);
      // A new one, too: it has no namespace yet, and was refused before it could have one.
      seen.cluster.namespaces.clear();
      seen.cluster.team_spaces[0].status.observed_generation = std::nullopt;
      CHECK(seen.Explain().standing == (c.want == Standing::kRefused ? c.want : Standing::kNew));
    }
  }
}

}  // namespace
}  // namespace cnpa
