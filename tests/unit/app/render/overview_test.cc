// SPDX-License-Identifier: Apache-2.0
#include "app/render/overview.h"

#include "core/teamspace/plan.h"
#include "kube/json/json.h"
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
  CHECK(OverviewLines(Seen().Overview(), OverviewForm::kTable, kNow, {}) ==
        Lines{"NAME      NAMESPACE      PODS   CPU      READY     REASON              AGE",
              "drifted   team-drifted   ?/99   ?/2      True      Drift               3m",
              "fine      team-fine      2/6    500m/2   True      Reconciled          3m",
              "new       -              -      -        Unknown   Pending             3m",
              "old       -              -      -        True      Deleting            3m",
              "refused   -              -      -        Unknown   NamespaceConflict   3m"});
}

TEST_CASE("OverviewLines adds in its wide form what a pass would do", "[app][overview]") {
  const Lines lines = OverviewLines(Seen().Overview(), OverviewForm::kWide, kNow, {});
  REQUIRE(lines.size() == 6);
  CHECK(lines[0].ends_with("AGE   OBSERVED   DIFFERENCES   MESSAGE"));
  // What is said of one that is ready is no news.
  CHECK(lines[1].ends_with("   1/1        1"));
  CHECK(lines[2].ends_with("   1/1        0"));
  CHECK(lines[3].ends_with("   -/1        4"));
}

TEST_CASE("OverviewLines puts a message that does not fit a terminal below its row", "[app][overview]") {
  Seen seen;
  seen.observation.team_spaces.back().status.ready =
      Condition{.type = "Ready",
                .status = "False",
                .observed_generation = 1,
                .last_transition_time = {},
                .reason = "NamespaceConflict",
                .message = "it is not ours, hand it over with: kubectl label namespace team-refused a=b --overwrite"};
  const auto lines = [&seen](std::optional<std::size_t> columns) {
    return OverviewLines(seen.Overview(), OverviewForm::kWide, kNow, {.columns = columns});
  };
  const std::string message = seen.observation.team_spaces.back().status.ready->message;
  CHECK(lines(std::nullopt).back().ends_with("   -/1        2             " + message));
  CHECK(lines(300) == lines(std::nullopt));
  const Lines at_120 = lines(120);
  CHECK(at_120.front().ends_with("   OBSERVED   DIFFERENCES"));
  CHECK(at_120[at_120.size() - 2].ends_with("   -/1        2"));
  CHECK(at_120.back() == "    " + message);
  const Lines at_80 = lines(80);
  CHECK(at_80[at_80.size() - 2] == "    it is not ours, hand it over with:");
  CHECK(at_80.back() == "    kubectl label namespace team-refused a=b --overwrite");
}

TEST_CASE("OverviewLines colours how each team space is", "[app][overview]") {
  const Lines lines = OverviewLines(Seen().Overview(), OverviewForm::kTable, kNow, {.color = true, .columns = 80});
  CHECK(lines[0] == "NAME      NAMESPACE      PODS   CPU      READY     REASON              AGE");
  CHECK(lines[1].ends_with("\033[33mTrue\033[0m      \033[33mDrift\033[0m               3m"));
  CHECK(lines[2].ends_with("\033[32mTrue\033[0m      \033[32mReconciled\033[0m          3m"));
  CHECK(lines[3].ends_with("\033[33mUnknown\033[0m   \033[33mPending\033[0m             3m"));
}

TEST_CASE("TeamSpaceOverview::reason says what is to be seen first", "[app][overview]") {
  TeamSpaceOverview seen{.name = "red", .generation = 2, .observed_generation = 2};
  CHECK(seen.reason() == "Pending");
  seen.drifted = true;
  CHECK(seen.reason() == "Pending");
  seen.ready = Condition{.status = "True", .reason = "Reconciled"};
  CHECK(seen.reason() == "Drift");
  seen.observed_generation = 1;  // Its spec was changed: that is no drift.
  CHECK(seen.reason() == "Pending");
  seen.ready->status = "False";
  seen.ready->reason = "WriteFailed";
  CHECK(seen.reason() == "WriteFailed");
  seen.refusal = "NamespaceConflict";
  CHECK(seen.reason() == "NamespaceConflict");
  seen.deletion_timestamp = "2026-01-01T00:00:00Z";
  CHECK(seen.reason() == "Deleting");
}

TEST_CASE("OverviewLines prints names as kubectl does", "[app][overview]") {
  CHECK(OverviewLines(Seen().Overview(), OverviewForm::kNames, kNow, {})[1] == "teamspace.platform.labhub.io/fine");
}

TEST_CASE("OverviewLines takes a server's clock that is ahead, and a time that is none", "[app][overview]") {
  Seen seen;
  seen.sights.created["fine"] = FormatTime(kNow + std::chrono::hours(1));
  seen.sights.created.erase("new");
  const Lines lines = OverviewLines(seen.Overview(), OverviewForm::kTable, kNow, {});
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
