// SPDX-License-Identifier: Apache-2.0
#include "app/overview.h"

#include "kube/json.h"
#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using Lines = std::vector<std::string>;

/// A cluster with a team space of each kind.
struct Seen {
  Observation observation = ConvergedCluster({"drifted", "fine"});
  Sights sights;

  Seen() {
    observation.quotas[0].hard["pods"] = "99";
    observation.team_spaces.push_back(NewTeamSpaceNamed("new"));
    observation.team_spaces.push_back(DeletedTeamSpaceNamed("old"));
    observation.team_spaces.push_back(NewTeamSpaceNamed("refused"));
    Namespace foreign = NamespaceFor("refused");
    foreign.owners.clear();
    foreign.team_space_label = std::nullopt;
    observation.namespaces.push_back(foreign);
    for (const TeamSpace& team_space : observation.team_spaces) {
      sights.created[team_space.name] = FormatTime(kNow - std::chrono::minutes(3));
    }
    sights.used["team-fine"] = {{"pods", "2"}, {"requests.cpu", "500m"}};
    sights.used["team-drifted"] = {};
  }

  std::vector<TeamSpaceOverview> Overview() const {
    return ComputeOverview(observation, sights, ComputePlan(observation));
  }
};

TEST_CASE("OverviewLines shows what is used, what is allowed, and how each team space is", "[app][overview]") {
  CHECK(OverviewLines(Seen().Overview(), OverviewForm::kTable, kNow) ==
        Lines{"NAME      NAMESPACE      PODS   CPU      READY     REASON              AGE",
              "drifted   team-drifted   ?/99   ?/2      True      Reconciled          3m",
              "fine      team-fine      2/6    500m/2   True      Reconciled          3m",
              "new       -              -      -        Unknown   Pending             3m",
              "old       -              -      -        True      Deleting            3m",
              "refused   -              -      -        Unknown   NamespaceConflict   3m"});
}

TEST_CASE("OverviewLines adds in its wide form what a pass would do", "[app][overview]") {
  const Lines lines = OverviewLines(Seen().Overview(), OverviewForm::kWide, kNow);
  REQUIRE(lines.size() == 6);
  CHECK(lines[0].ends_with("AGE   OBSERVED   DIFFERENCES   MESSAGE"));
  CHECK(lines[1].find("   1/1        1             namespace team-drifted") != std::string::npos);
  CHECK(lines[2].find("   1/1        0             namespace team-fine") != std::string::npos);
  CHECK(lines[3].find("   -/1        4             ") != std::string::npos);
}

TEST_CASE("OverviewLines prints names as kubectl does", "[app][overview]") {
  CHECK(OverviewLines(Seen().Overview(), OverviewForm::kNames, kNow)[1] == "teamspace.platform.labhub.io/fine");
}

TEST_CASE("OverviewLines takes a server's clock that is ahead, and a time that is none", "[app][overview]") {
  Seen seen;
  seen.sights.created["fine"] = FormatTime(kNow + std::chrono::hours(1));
  seen.sights.created.erase("new");
  const Lines lines = OverviewLines(seen.Overview(), OverviewForm::kTable, kNow);
  CHECK(lines[2].ends_with(" 0s"));
  CHECK(lines[3].ends_with(" ?"));
}

TEST_CASE("OverviewDocument has the same for machines", "[app][overview]") {
  std::string text = OverviewDocument(Seen().Overview());
  JsonDocument document;
  REQUIRE(document.Parse(text));
  const std::vector<JsonReader> items = document.root().Objects("items");
  REQUIRE(items.size() == 5);
  CHECK(items[1].String("name") == "fine");
  CHECK(items[1].String("namespace") == "team-fine");
  CHECK(items[1].Object("pods").String("used") == "2");
  CHECK(items[1].Object("cpu").String("limit") == "2");
  CHECK(items[1].IsTrue("ready"));
  CHECK(items[0].IntIfPresent("differences") == 1);
  CHECK(items[3].String("state") == "Deleting");
  CHECK(items[3].String("deletedAt") == DeletedTeamSpaceNamed("old").deletion_timestamp);
  CHECK_FALSE(items[4].Has("namespace"));
  CHECK(document.status());
}

}  // namespace
}  // namespace cnpa
