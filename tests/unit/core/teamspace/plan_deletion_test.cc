// SPDX-License-Identifier: Apache-2.0
//
// What one pass does for team spaces that are being deleted.
#include <string>
#include <utility>
#include <vector>

#include "core/plan/change.h"
#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/describe.h"

namespace cnpa {
namespace {

/// A cluster in which `red` is being deleted and all else is as it was.
Observation DeletingCluster() {
  Observation cluster = ConvergedCluster({"red"});
  cluster.team_spaces = {DeletedTeamSpaceNamed("red")};
  return cluster;
}

std::vector<Change> Release(const WriteArchive& archive, std::vector<std::size_t> places) {
  return {{archive, Cause::kBeingDeleted, {}}, {RemoveFinalizer{std::move(places)}, Cause::kBeingDeleted, {}}};
}

const WriteArchive kArchive{.name = "red",
                            .uid = "uid-red",
                            .pods = 6,
                            .cpu = "2",
                            .generation = 2,
                            .deleted_at = kEarlierText,
                            .archived_at = kNowText};

TEST_CASE("ComputePlan archives a deleted TeamSpace, only then takes the finalizer off", "[core][plan_deletion]") {
  const Plan plan = ComputePlan(DeletingCluster());
  const Chain want{.name = "red",
                   .uid = "uid-red",
                   .generation = 2,
                   .deleting = true,
                   .turn = Turn::kDeletion,
                   .changes = Release(kArchive, {0}),
                   .refusal = {},
                   .observed_status = TeamSpaceNamed("red").status,
                   .namespace_name = {},
                   .namespace_uid = {},
                   .crd = {.has_namespace_uid = true}};
  CHECK(plan == Plan{.chains = {want}, .team_spaces = 1, .computed_at = kNow});
}

TEST_CASE("ComputePlan takes off only our finalizer, wherever it stands", "[core][plan_deletion]") {
  Observation cluster = DeletingCluster();
  cluster.team_spaces[0].finalizers = {"a.example/one", "foregroundDeletion", std::string(kFinalizer)};
  CHECK(ChainOf(ComputePlan(cluster), "red").changes == Release(kArchive, {2}));
}

TEST_CASE("ComputePlan takes our finalizer off wherever it stands twice, last first", "[core][plan_deletion]") {
  Observation cluster = DeletingCluster();
  const std::string ours(kFinalizer);
  cluster.team_spaces[0].finalizers = {ours, "a.example/one", ours, ours};
  CHECK(ChainOf(ComputePlan(cluster), "red").changes == Release(kArchive, {3, 2, 0}));
}

TEST_CASE("ComputePlan archives spec, labels and annotations as they were listed", "[core][plan_deletion]") {
  Observation cluster = DeletingCluster();
  const ArchivedTexts texts{R"({"pods":6,"cpu":"2"})", R"({"a":"b"})", R"({"c":"d"})"};
  cluster.team_spaces[0].archived = texts;
  WriteArchive archive = kArchive;
  archive.texts = texts;
  CHECK(ChainOf(ComputePlan(cluster), "red").changes == Release(archive, {0}));
}

TEST_CASE("ComputePlan takes ArchiveFailed out of the status of what others hold, once it is archived",
          "[core][plan_deletion]") {
  Observation cluster = DeletingCluster();
  TeamSpace& red = cluster.team_spaces[0];
  red.status.ready->status = "False";
  red.status.ready->reason = "ArchiveFailed";
  TeamSpaceStatus cleared = red.status;
  cleared.ready.reset();
  const Change clear{WriteStatus{red.status, cleared},
                     Cause::kBeingDeleted,
                     {{"status.conditions['Ready']", "False (ArchiveFailed)", std::nullopt, std::nullopt}}};
  SECTION("with the finalizer") {
    red.finalizers.emplace_back("a.example/one");
    std::vector<Change> want = Release(kArchive, {0});
    want.push_back(clear);
    CHECK(ChainOf(ComputePlan(cluster), "red").changes == want);
  }
  SECTION("in a later pass, where the first was killed before it came to that") {
    red.finalizers = {"a.example/one"};
    CHECK(ChainOf(ComputePlan(cluster), "red").changes == std::vector<Change>{clear});
    red.status = cleared;
    CHECK(ComputePlan(cluster).empty());
  }
  SECTION("not where nobody else holds it: it goes with the finalizer") {
    CHECK(ChainOf(ComputePlan(cluster), "red").changes == Release(kArchive, {0}));
  }
  SECTION("not where the reason is another one") {
    red.finalizers.emplace_back("a.example/one");
    red.status.ready->reason = "NamespaceConflict";
    CHECK(ChainOf(ComputePlan(cluster), "red").changes == Release(kArchive, {0}));
  }
  SECTION("not while the CRD is being deleted and all is held") {
    red.finalizers.emplace_back("a.example/one");
    cluster.crd.deleting = true;
    CHECK(ComputePlan(cluster).empty());
  }
}

TEST_CASE("ComputePlan leaves a deleted TeamSpace with other finalizers only untouched", "[core][plan_deletion]") {
  Observation cluster = DeletingCluster();
  cluster.team_spaces[0].finalizers = {"a.example/one"};
  CHECK(ComputePlan(cluster) == Plan{.chains = {}, .team_spaces = 1, .computed_at = kNow});
  cluster.team_spaces[0].finalizers.clear();
  CHECK(ComputePlan(cluster) == Plan{.chains = {}, .team_spaces = 1, .computed_at = kNow});
}

TEST_CASE("ComputePlan releases a deleted TeamSpace and re-creates nothing, whatever is around it",
          "[core][plan_deletion]") {
  Observation cluster = DeletingCluster();
  TeamSpace& red = cluster.team_spaces[0];
  SECTION("its quota is gone") {
    cluster.quotas.clear();
  }
  SECTION("cascade=foreground: the namespace goes first") {
    cluster.namespaces[0].terminating = true;
  }
  SECTION("cascade=foreground: the namespace is gone") {
    cluster.namespaces.clear();
  }
  SECTION("its quota drifted") {
    cluster.quotas[0].hard["pods"] = "99";
  }
  SECTION("its namespace is not ours") {
    cluster.namespaces[0] = ForeignNamespaceFor("red");
  }
  SECTION("its namespace can't be read") {
    cluster.namespaces[0].unreadable = "why";
  }
  SECTION("its quota can't be read") {
    cluster.quotas[0].unreadable = "why";
  }
  SECTION("its status is behind: observedGeneration is never raised") {
    red.status.observed_generation = 1;
  }
  SECTION("it has no status") {
    red.status = {};
  }
  CHECK(ChainOf(ComputePlan(cluster), "red").changes == Release(kArchive, {0}));
  CHECK(ChainOf(ComputePlan(cluster), "red").refusal == std::nullopt);
}

TEST_CASE("ComputePlan releases a TeamSpace whose name or spec can't be served", "[core][plan_deletion]") {
  Observation cluster = DeletingCluster();
  TeamSpace& red = cluster.team_spaces[0];
  WriteArchive archive = kArchive;
  SECTION("a name with a dot: deletion still works") {
    red.name = archive.name = "a.b";
  }
  SECTION("a name too long") {
    red.name = archive.name = std::string(253, 'a');
  }
  SECTION("spec.cpu is not a quantity") {
    red.cpu = archive.cpu = "lots";
  }
  SECTION("spec.pods does not decode") {
    red.pods = archive.pods = std::nullopt;
    red.unreadable = "cannot read teamspace red: 'spec.pods' is missing";
  }
  CHECK(ChainOf(ComputePlan(cluster), red.name).changes == Release(archive, {0}));
}

TEST_CASE("ComputePlan holds while the CRD itself is being deleted: nothing is finalized", "[core][plan_deletion]") {
  Observation cluster = ConvergedCluster({"blue", "red"});
  cluster.team_spaces = {DeletedTeamSpaceNamed("blue"), DeletedTeamSpaceNamed("red")};
  cluster.team_spaces[0].finalizers = {"a.example/one"};
  cluster.crd.deleting = true;
  const Plan held = ComputePlan(cluster);
  CHECK(held.empty());
  REQUIRE(held.chains.size() == 1);  // Blue is not for us to finalize.
  CHECK(ChainOf(held, "red").refusal ==
        Refusal{Reason::kCrdDeleting,
                "the TeamSpace CRD is being deleted, and with it every TeamSpace and namespace: nothing is "
                "finalized until a pass runs with --allow-crd-deletion"});
  const Plan allowed = ComputePlan(cluster, {.allow_crd_deletion = true});
  CHECK(ChainOf(allowed, "red").changes == Release(kArchive, {0}));
  CHECK(ChainOf(allowed, "red").refusal == std::nullopt);
}

}  // namespace
}  // namespace cnpa
