// SPDX-License-Identifier: Apache-2.0
#include "app/stages/rehearse.h"

#include <string>

#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/fake_api_server.h"
#include "support/temp_folder.h"

namespace cnpa {
namespace {

Verdicts RehearseOn(FakeApiServer& server, const Observation& cluster, Archive& archive, std::size_t concurrency = 4) {
  server.Put(cluster);
  Client client(server, std::chrono::seconds(15), {.on_warning = {}, .random = [] { return 1.0; }}, WriteMode::kDryRun);
  return Rehearse(ComputePlan(cluster), client, archive, concurrency);
}

Verdicts RehearseOn(FakeApiServer& server, const Observation& cluster, std::size_t concurrency = 4) {
  Archive archive("");
  return RehearseOn(server, cluster, archive, concurrency);
}

/// Many team spaces, each with a quota to repair.
Observation DriftedCluster(int size) {
  Observation cluster;
  for (int i = 0; i < size; ++i) {
    const Observation one = ConvergedCluster({"t" + std::to_string(100 + i)});
    cluster.team_spaces.push_back(one.team_spaces.front());
    cluster.namespaces.push_back(one.namespaces.front());
    cluster.quotas.push_back(one.quotas.front());
  }
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  return cluster;
}

TEST_CASE("Rehearse asks about what stands behind a refusal too", "[app][rehearse]") {
  FakeApiServer server;
  Observation cluster;
  cluster.team_spaces = {NewTeamSpaceNamed("red")};
  server.failure = {"PATCH /apis/platform.labhub.io/v1alpha1/teamspaces/red?", StatusAnswer(403, "Forbidden", "no")};
  const Verdicts verdicts = RehearseOn(server, cluster);
  REQUIRE(verdicts.size() == 1);
  REQUIRE(verdicts[0].size() == 4);
  CHECK(verdicts[0][0].answer == Answer::kRefused);
  CHECK(verdicts[0][1].answer == Answer::kAccepted);
  CHECK(verdicts[0][2].answer == Answer::kNotChecked);
  CHECK(verdicts[0][3].answer == Answer::kAccepted);
}

TEST_CASE("Rehearse looks once at where archives would go, and writes none", "[app][rehearse]") {
  Observation cluster;
  cluster.team_spaces = {DeletedTeamSpaceNamed("blue"), DeletedTeamSpaceNamed("red")};
  const TempFolder folder;
  {
    FakeApiServer server;
    Archive archive(folder.Path("archive"));
    const Verdicts verdicts = RehearseOn(server, cluster, archive);
    CHECK(verdicts == Verdicts(2, std::vector<Verdict>(2, {Answer::kAccepted, std::nullopt, ""})));
    CHECK(folder.Names().empty());
    CHECK(server.Has(PathOfTeamSpace("red")));
  }
  FakeApiServer server;
  const Verdicts verdicts = RehearseOn(server, cluster);
  const Verdict no_folder{Answer::kRefused, Reason::kArchiveFailed, "no archive folder: give --archive"};
  CHECK(verdicts == Verdicts(2, {no_folder, {Answer::kAccepted, std::nullopt, ""}}));
}

TEST_CASE("Rehearse has no more requests in flight than it may", "[app][rehearse]") {
  FakeApiServer server;
  const Verdicts verdicts = RehearseOn(server, DriftedCluster(20), 3);
  CHECK(verdicts.size() == 20);
  CHECK(server.most_at_once == 3);
  CHECK(server.requests.size() == 20);
}

TEST_CASE("Rehearse gives up on a server that is gone, and says of the rest why", "[app][rehearse]") {
  FakeApiServer server;
  server.failure = {"PATCH ", Fail(ErrorCode::kUnreachable, "connection refused")};
  const Verdicts verdicts = RehearseOn(server, DriftedCluster(50), 2);
  CHECK(server.requests.size() < 30);
  CHECK(verdicts.front().front() == Verdict{Answer::kNotChecked, std::nullopt, "connection refused"});
  CHECK(verdicts.back().front() ==
        Verdict{Answer::kNotChecked, std::nullopt, "the server fails too often: connection refused"});
}

TEST_CASE("Rehearse says of each change that another writer was faster", "[app][rehearse]") {
  FakeApiServer server;
  const Observation cluster = DriftedCluster(1);
  server.Put(cluster);
  Observation other = cluster;
  other.quotas[0].hard["pods"] = "7";
  server.Put(other);
  Archive archive("");
  Client client(server, std::chrono::seconds(15), {}, WriteMode::kDryRun);
  CHECK(Rehearse(ComputePlan(cluster), client, archive, 1)[0][0].answer == Answer::kOutdated);
}

}  // namespace
}  // namespace cnpa
