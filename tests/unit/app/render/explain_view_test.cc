// SPDX-License-Identifier: Apache-2.0
#include "app/render/explain_view.h"

#include <algorithm>
#include <string>
#include <vector>

#include "app/output/table.h"
#include "app/output/width.h"
#include "app/render/explain_document.h"
#include "core/teamspace/explain.h"
#include "core/teamspace/plan.h"
#include "kube/json/json.h"
#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using Lines = std::vector<std::string>;

const Writer kOurs{"cnpa-op", "Update", "", kNow - std::chrono::hours(50)};
const Writer kSomebody{"kubectl-client-side-apply", "Update", "", kNow - std::chrono::seconds(4)};

Explanation Explain(const Observation& cluster, CloseSights sights = {}) {
  const std::string made = FormatTime(kNow - std::chrono::hours(50));
  for (ObjectSight* sight : {&sights.team_space, &sights.space, &sights.quota}) sight->created = made;
  sights.space.writers = {{LabelPath(), kOurs}, {OwnerPath("uid-red"), kOurs}};
  return ComputeExplanation(cluster, sights, ComputePlan(cluster), "red");
}

Observation Drifted() {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas[0].hard["pods"] = "99";
  cluster.quotas[0].writers = {{"spec.hard.pods", kSomebody}};
  return cluster;
}

TEST_CASE("ExplanationLines says first how it stands, then each field", "[app][explain]") {
  CHECK(ExplanationLines(Explain(Drifted()), {.folder = "/a"}, {}) ==
        Lines{"TeamSpace red is not in sync: the next pass makes 1 change.",
              "  ~ ResourceQuota/team-red/team-quota  pods 99 -> 6: was changed by kubectl-client-side-apply, 4s ago",
              "", "    FIELD               FOUND              WANTED  SET BY", "TeamSpace/red  made 2d2h ago",
              "    finalizer           on                 =", "    observedGeneration  1                  =",
              "    namespace           team-red           =", "    Ready               True (Reconciled)  =",
              "Namespace/team-red  made 2d2h ago",
              "    label               red                =       cnpa-op, 2d2h ago",
              "    owner               this TeamSpace     =       cnpa-op, 2d2h ago",
              "ResourceQuota/team-red/team-quota  made 2d2h ago",
              "~   pods                99                 6       kubectl-client-side-apply, 4s ago",
              "    requests.cpu        2                  =", "", "Archives of red: none in /a"});
}

TEST_CASE("ExplanationLines fits a terminal, with further lines below their words", "[app][explain]") {
  for (const std::size_t columns : {60U, 80U, 200U}) {
    CAPTURE(columns);
    for (const std::string& line : ExplanationLines(Explain(Drifted()), {.folder = "/a"}, {.columns = columns})) {
      CAPTURE(line);
      CHECK(DisplayWidth(line) <= columns);
    }
  }
  const Lines narrow = ExplanationLines(Explain(Drifted()), {.folder = "/a"}, {.columns = 60});
  CHECK(Lines(narrow.begin() + 1, narrow.begin() + 3) ==
        Lines{"  ~ ResourceQuota/team-red/team-quota  pods 99 -> 6: was",
              "      changed by kubectl-client-side-apply, 4s ago"});
  CHECK(std::find(narrow.begin(), narrow.end(), "      by kubectl-client-side-apply, 4s ago") != narrow.end());
}

TEST_CASE("ExplanationLines colours marks and objects, and nothing else is different", "[app][explain]") {
  const Lines plain = ExplanationLines(Explain(Drifted()), {.folder = "/a"}, {});
  Lines colored = ExplanationLines(Explain(Drifted()), {.folder = "/a"}, {.color = true});
  CHECK(colored[1].starts_with("  \033[33m~\033[0m ResourceQuota"));
  for (std::string& line : colored) {
    for (std::size_t start = 0; (start = line.find('\033')) != std::string::npos;) {
      line.erase(start, line.find('m', start) + 1 - start);
    }
  }
  CHECK(colored == plain);
}

TEST_CASE("ExplanationLines has a first line for each standing", "[app][explain]") {
  const auto first = [](const Observation& cluster, const CloseSights& sights = {}) {
    return ExplanationLines(Explain(cluster, sights), {}, {}).front();
  };
  Observation cluster = ConvergedCluster({"red"});
  CHECK(first(cluster) == "TeamSpace red is in sync: a pass changes nothing.");
  cluster.team_spaces[0].generation = 2;
  CHECK(
      first(cluster) ==
      "TeamSpace red is not in sync: the next pass makes 1 change. Its spec was changed: generation 2 is there, 1 was "
      "applied.");
  cluster.namespaces[0].terminating = true;
  CHECK(first(cluster) == "TeamSpace red waits for the end of its old namespace:");
  cluster.namespaces[0] = ForeignNamespaceFor("red");
  CHECK(first(cluster) == "TeamSpace red is refused, until somebody acts:");
  CloseSights sights;
  sights.team_space.deleted = FormatTime(kNow - std::chrono::minutes(4));
  cluster.team_spaces[0] = DeletedTeamSpaceNamed("red");
  CHECK(first(cluster, sights) == "TeamSpace red is being deleted, for 4m: the next pass archives it and lets it go.");
  cluster.team_spaces[0].finalizers = {"a.example/x"};
  CHECK(first(cluster, sights) == "TeamSpace red is being deleted, for 4m: nothing is left for cnpa-op to do.");
  sights.team_space.finalizers = {"a.example/x"};
  CHECK(first(cluster, sights) ==
        "TeamSpace red is being deleted, for 4m: nothing is left for cnpa-op to do, others hold it:");
  cluster.team_spaces = {NewTeamSpaceNamed("red")};
  cluster.namespaces.clear();
  cluster.quotas.clear();
  CHECK(first(cluster) == "TeamSpace red is new: the next pass makes 4 changes.");
  CHECK(first({}) == "Archives of red: no folder is given, see --archive");  // That there is none is an error.
}

TEST_CASE("ExplanationLines names archives, and says why it can't", "[app][explain]") {
  const auto last = [](const ArchiveSearch& archives) { return ExplanationLines(Explain({}), archives, {}).back(); };
  CHECK(last({}) == "Archives of red: no folder is given, see --archive");
  CHECK(last({.folder = "/a", .problem = "archive folder '/a': permission denied"}) ==
        "Archives of red: nobody can say, archive folder '/a': permission denied");
  const ArchiveFile good{"red.json", {.name = "red", .uid = "u", .archived_at = kNowText}, {}};
  CHECK(last({.folder = "/a", .files = {good}}) == "  red.json  archived " + kNowText + ", uid u");
  CHECK(last({.folder = "/a", .files = {{"red.json", {}, "not JSON"}}}) == "  red.json  can't be read: not JSON");
  CHECK(last({.folder = "/a", .files = std::vector(12, good)}) == "  and 2 earlier ones");
}

TEST_CASE("ExplanationLines lets no control character through", "[app][explain]") {
  Observation cluster = Drifted();
  cluster.quotas[0].hard["pods"] = "9\n\033[0m";
  cluster.quotas[0].writers["spec.hard.pods"].manager = "x\ny";
  for (const std::string& line : ExplanationLines(Explain(cluster), {}, {})) {
    CHECK(line.find_first_of("\n\033") == std::string::npos);
  }
}

TEST_CASE("ExplanationDocument has the same for machines", "[app][explain]") {
  std::string text = ExplanationDocument(Explain(Drifted()), {.folder = "/a"});
  JsonDocument document;
  REQUIRE(document.Parse(text));
  const JsonReader root = document.root();
  CHECK(root.String("standing") == "OutOfSync");
  CHECK(root.IntIfPresent("changes") == 1);
  CHECK_FALSE(root.Has("reason"));
  const std::vector<JsonReader> objects = root.Objects("objects");
  REQUIRE(objects.size() == 3);
  CHECK(objects[2].String("presence") == "There");
  const std::vector<JsonReader> fields = objects[2].Objects("fields");
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].String("found") == "99");
  CHECK(fields[0].String("wanted") == "6");
  CHECK(fields[0].IsTrue("differs"));
  CHECK(fields[0].Object("lastWriter").String("manager") == "kubectl-client-side-apply");
  CHECK(root.Object("archives").String("folder") == "/a");
  CHECK(document.status());
}

}  // namespace
}  // namespace cnpa
