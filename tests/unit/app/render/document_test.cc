// SPDX-License-Identifier: Apache-2.0
#include "app/render/document.h"

#include "kube/json/json.h"
#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using Kind = PassDocument::Kind;

Chain ChainOf(const std::string& name, std::vector<Change> changes) {
  Chain chain;
  chain.name = name;
  chain.changes = std::move(changes);
  return chain;
}

/// Returns the text between the brackets of `changes`.
std::string ChangesOf(const PassDocument& document) {
  const std::string text = document.Text();
  const std::size_t start = text.find("\"changes\": [") + 12;
  std::string changes = text.substr(start, text.find("\n  ],", start) - start);
  changes.erase(0, changes.find_first_not_of("\n "));
  return changes;
}

TEST_CASE("PassDocument tells each kind of change, with the fields that people read in words", "[app][document]") {
  struct Case {
    std::string name;
    Change change;
    std::string want;
  };
  const Writer kubectl{"kubectl-patch", "Update", "", kNow};
  const Case cases[] = {
      {"finalizer added",
       {AddFinalizer{}, Cause::kMissing, {}},
       R"({"subject":{"kind":"TeamSpace","name":"red"},"teamSpace":"red","object":{"kind":"TeamSpace","name":"red"},"verb":"update","reason":"Missing",)"
       R"("fields":[{"path":"metadata.finalizers","from":null,"to":"platform.labhub.io/cleanup"}]})"},
      {"finalizer taken off",
       {RemoveFinalizer{}, Cause::kBeingDeleted, {}},
       R"({"subject":{"kind":"TeamSpace","name":"red"},"teamSpace":"red","object":{"kind":"TeamSpace","name":"red"},"verb":"update","reason":"BeingDeleted",)"
       R"("fields":[{"path":"metadata.finalizers","from":"platform.labhub.io/cleanup","to":null}]})"},
      {"namespace",
       {CreateNamespace{"team-red", {}}, Cause::kMissing, {}},
       R"({"subject":{"kind":"TeamSpace","name":"red"},"teamSpace":"red","object":{"kind":"Namespace","name":"team-red"},"verb":"create","reason":"Missing",)"
       R"("fields":[{"path":"metadata.labels['platform.labhub.io/teamspace']","from":null,"to":"red"}]})"},
      {"quota",
       {CreateQuota{"team-red", {{"pods", "6"}}}, Cause::kMissing, {}},
       R"({"subject":{"kind":"TeamSpace","name":"red"},"teamSpace":"red","object":{"kind":"ResourceQuota","namespace":"team-red","name":"team-quota"},)"
       R"("verb":"create","reason":"Missing","fields":[{"path":"spec.hard.pods","from":null,"to":"6"}]})"},
      {"quota changed by somebody",
       {RepairQuota{"team-red", "u", {}, {}}, Cause::kDiffers, {{"spec.hard.pods", "99", "6", kubectl}}},
       R"({"subject":{"kind":"TeamSpace","name":"red"},"teamSpace":"red","object":{"kind":"ResourceQuota","namespace":"team-red","name":"team-quota"},)"
       R"("verb":"update","reason":"Differs","fields":[{"path":"spec.hard.pods","from":"99","to":"6",)"
       R"("lastWriter":{"manager":"kubectl-patch","operation":"Update","subresource":"","time":")" +
           FormatTime(kNow) + R"("}}]})"},
      {"a contested field",
       {RepairQuota{"team-red", "u", {}, {}},
        Cause::kDiffers,
        {{.path = "spec.hard.pods", .from = "99", .to = "6", .contested = Contest{7, kNow}}}},
       R"({"subject":{"kind":"TeamSpace","name":"red"},"teamSpace":"red","object":{"kind":"ResourceQuota","namespace":"team-red","name":"team-quota"},)"
       R"("verb":"update","reason":"Differs","fields":[{"path":"spec.hard.pods","from":"99","to":"6",)"
       R"("contested":{"count":7,"since":"2031-05-06T07:08:09Z"}}]})"},
      {"a contested finalizer",
       {.effect = AddFinalizer{}, .cause = Cause::kMissing, .contested = Contest{3, kNow}},
       R"({"subject":{"kind":"TeamSpace","name":"red"},"teamSpace":"red","object":{"kind":"TeamSpace","name":"red"},"verb":"update","reason":"Missing",)"
       R"("contested":{"count":3,"since":"2031-05-06T07:08:09Z"},)"
       R"("fields":[{"path":"metadata.finalizers","from":null,"to":"platform.labhub.io/cleanup"}]})"},
      {"quota with scopes",
       {DeleteQuota{"team-red", "u"}, Cause::kScoped, {{.path = "spec.scopes", .from = "BestEffort"}}},
       R"({"subject":{"kind":"TeamSpace","name":"red"},"teamSpace":"red","object":{"kind":"ResourceQuota","namespace":"team-red","name":"team-quota"},)"
       R"("verb":"delete","reason":"Scoped","fields":[{"path":"spec.scopes","from":"BestEffort","to":null}]})"},
      {"archive",
       {WriteArchive{.name = "red", .uid = "u"}, Cause::kBeingDeleted, {}},
       R"({"subject":{"kind":"TeamSpace","name":"red"},"teamSpace":"red","object":{"kind":"TeamSpace","name":"red"},"verb":"archive","reason":"BeingDeleted",)"
       R"("file":"/a/red.json","fields":[]})"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Plan plan;
      plan.chains.push_back(ChainOf("red", {c.change}));
      PassDocument document(Kind::kPlan, "/a");
      document.AddPlan(plan);
      CHECK(ChangesOf(document) == c.want);
    }
  }
}

TEST_CASE("PassDocument tells what the server says to each change, where it was asked", "[app][document]") {
  Plan plan;
  plan.chains.push_back(ChainOf("red", {{AddFinalizer{}, Cause::kMissing, {}}, {WriteStatus{}, Cause::kBehind, {}}}));
  const Verdicts verdicts{{{Answer::kAccepted, std::nullopt, ""}, {Answer::kRefused, Reason::kForbidden, "no"}}};
  PassDocument document(Kind::kPlan, "/a");
  document.AddPlan(plan, &verdicts);
  std::string text = document.Text();
  JsonDocument json;
  REQUIRE(json.Parse(text));
  const auto changes = json.root().Objects("changes");
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].Object("server").String("answer") == "accepted");
  CHECK_FALSE(changes[0].Object("server").Has("message"));
  CHECK(changes[1].Object("server").String("answer") == "refused");
  CHECK(changes[1].Object("server").String("reason") == "Forbidden");
  CHECK(changes[1].Object("server").String("message") == "no");
  const JsonReader summary = json.root().Object("summary");
  CHECK(summary.IntIfPresent("serverAccepts") == 1);
  CHECK(summary.IntIfPresent("serverRefuses") == 1);
  CHECK(summary.IntIfPresent("serverOutdated") == 0);
  CHECK(summary.IntIfPresent("serverNotChecked") == 0);
}

TEST_CASE("PassDocument tells of a report only what was done", "[app][document]") {
  Plan plan;
  plan.chains.push_back(ChainOf("red", {{AddFinalizer{}, Cause::kMissing, {}}, {WriteStatus{}, Cause::kBehind, {}}}));
  Report report;
  report.chains.push_back({.done = 1, .end = ChainEnd::kFailed, .error = {ErrorCode::kUnavailable, "away"}});
  PassDocument document(Kind::kReport, "/a");
  document.AddChanges(plan.chains[0], report.chains[0]);
  document.SetProblems(plan, report);
  Totals totals;
  totals.Add(plan, report);
  document.SetTotals(totals, std::chrono::milliseconds(12));
  std::string text = document.Text();
  CHECK(text.find("StatusBehind") == std::string::npos);
  JsonDocument json;
  REQUIRE(json.Parse(text));
  CHECK(json.root().String("kind") == "Report");
  CHECK(json.root().Objects("changes").size() == 1);
  const auto problems = json.root().Objects("problems");
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].String("state") == "failed");
  CHECK(problems[0].String("message") == "away");
  CHECK_FALSE(problems[0].Has("reason"));
  CHECK(json.root().Object("summary").IntIfPresent("failed") == 1);
  CHECK(json.root().Object("summary").IntIfPresent("milliseconds") == 12);
}

TEST_CASE("PassDocument is a document too where nothing could be read", "[app][document]") {
  PassDocument document(Kind::kPlan, "/a");
  document.SetError("cannot reach it");
  std::string text = document.Text();
  JsonDocument json;
  REQUIRE(json.Parse(text));
  CHECK(json.root().String("error") == "cannot reach it");
  CHECK(json.root().Objects("changes").empty());
  CHECK_FALSE(json.root().Has("observedAt"));
}

}  // namespace
}  // namespace cnpa
