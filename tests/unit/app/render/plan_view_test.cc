// SPDX-License-Identifier: Apache-2.0
#include "app/render/plan_view.h"

#include <chrono>
#include <string>
#include <vector>

#include "app/output/table.h"
#include "app/output/width.h"
#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using Lines = std::vector<std::string>;

const Writer kKubectl{"kubectl-patch", "Update", "", kNow - std::chrono::seconds(2)};

Change Drift() {
  return {RepairQuota{"team-alpha", "u", {}, {}}, Cause::kDiffers, {{"spec.hard.pods", "99", "4", kKubectl}}};
}

Chain ChainOf(const std::string& name, std::vector<Change> changes) {
  Chain chain;
  chain.name = name;
  chain.changes = std::move(changes);
  return chain;
}

/// One team space of each kind.
Plan BusyPlan() {
  Plan plan;
  plan.chains.push_back(ChainOf("delta", {{WriteArchive{.name = "delta", .uid = "u"}, Cause::kBeingDeleted, {}},
                                          {RemoveFinalizer{}, Cause::kBeingDeleted, {}}}));
  plan.chains.back().deleting = true;
  Change two = Drift();
  two.fields.push_back({"spec.hard.limits.cpu", "7", std::nullopt, std::nullopt});
  plan.chains.push_back(ChainOf("alpha", {two}));
  plan.chains.push_back(ChainOf("epsilon", {}));
  plan.chains.back().refusal = Refusal{Reason::kNamespaceConflict, "namespace team-epsilon exists and is not ours"};
  plan.chains.push_back(ChainOf("beta", {{CreateNamespace{"team-beta", {}}, Cause::kMissing, {}},
                                         {CreateQuota{"team-beta", {{"pods", "2"}}}, Cause::kMissing, {}}}));
  plan.chains.back().turn = Turn::kNew;
  return plan;
}

Verdicts BusyVerdicts() {
  const Verdict yes{Answer::kAccepted, std::nullopt, ""};
  return {{yes, yes},
          {{Answer::kRefused, Reason::kForbidden, "forbidden: user \"cnpa-op\" cannot patch resourcequotas"}},
          {},
          {yes, {Answer::kNotChecked, std::nullopt, "namespace team-beta is not created yet"}}};
}

Lines LinesOf(const Plan& plan, std::optional<std::size_t> columns, const Verdicts* verdicts = nullptr) {
  return PlanLines(plan, verdicts, Renderer(kNow, {}, "/archive"), {.color = false, .columns = columns});
}

const std::string kBusySummary =
    "Plan: 2 to create, 1 to change, 1 to release, 1 refused. The server accepts 2, refuses 1; 1 not checked.";

TEST_CASE("PlanLines gives who reads no terminal a whole line for each change", "[app][plan_view]") {
  const Verdicts verdicts = BusyVerdicts();
  CHECK(
      LinesOf(BusyPlan(), std::nullopt, &verdicts) ==
      Lines{
          "+ /archive/delta.json                   archive of TeamSpace delta",
          "- TeamSpace/delta                       finalizer platform.labhub.io/cleanup removed",
          std::string("~ ResourceQuota/team-alpha/team-quota   pods 99 -> 4: was changed by kubectl-patch, 2s ago, ") +
              "limits.cpu 7 -> none",
          std::string("! ResourceQuota/team-alpha/team-quota   the server refuses it: forbidden: user ") +
              "\"cnpa-op\" cannot patch resourcequotas",
          "! TeamSpace/epsilon                     NamespaceConflict: namespace team-epsilon exists and is not ours",
          "+ Namespace/team-beta                   TeamSpace beta has none",
          "+ ResourceQuota/team-beta/team-quota    pods 2",
          ". ResourceQuota/team-beta/team-quota    not checked: namespace team-beta is not created yet", kBusySummary});
}

TEST_CASE("PlanLines groups by team space on a terminal, and breaks lines below their words", "[app][plan_view]") {
  const Verdicts verdicts = BusyVerdicts();
  CHECK(LinesOf(BusyPlan(), 80, &verdicts) ==
        Lines{"TeamSpace delta (being deleted)", "  + /archive/delta.json                   archive of TeamSpace delta",
              "  - TeamSpace/delta  finalizer platform.labhub.io/cleanup removed", "TeamSpace alpha",
              "  ~ ResourceQuota/team-alpha/team-quota   pods 99 -> 4: was changed by",
              "                                          kubectl-patch, 2s ago",
              "                                          limits.cpu 7 -> none",
              "      ! the server refuses it: forbidden: user \"cnpa-op\" cannot patch", "        resourcequotas",
              "TeamSpace epsilon", "  ! TeamSpace/epsilon                     NamespaceConflict: namespace",
              "                                          team-epsilon exists and is not ours", "TeamSpace beta (new)",
              "  + Namespace/team-beta                   TeamSpace beta has none",
              "  + ResourceQuota/team-beta/team-quota    pods 2",
              "      . not checked: namespace team-beta is not created yet",
              "Plan: 2 to create, 1 to change, 1 to release, 1 refused. The server accepts 2,",
              "refuses 1; 1 not checked."});
}

TEST_CASE("PlanLines breaks nothing on a wide terminal", "[app][plan_view]") {
  const Lines lines = LinesOf(BusyPlan(), 200);
  REQUIRE(lines.size() == 12);
  CHECK(lines[4] == "  ~ ResourceQuota/team-alpha/team-quota   pods 99 -> 4: was changed by kubectl-patch, 2s ago");
  CHECK(lines[5] == "                                          limits.cpu 7 -> none");
}

TEST_CASE("PlanLines has no headings where each team space has one line", "[app][plan_view]") {
  Plan plan;
  plan.chains.push_back(ChainOf("alpha", {Drift()}));
  CHECK(LinesOf(plan, 100) ==
        Lines{"~ ResourceQuota/team-alpha/team-quota   pods 99 -> 4: was changed by kubectl-patch, 2s ago",
              "Plan: 1 to change."});
  CHECK(LinesOf({}, 100) == Lines{"No differences."});
}

TEST_CASE("PlanLines puts words below their object where there is no room beside it", "[app][plan_view]") {
  Plan plan;
  plan.chains.push_back(ChainOf("alpha", {Drift()}));
  CHECK(LinesOf(plan, 40) == Lines{"~ ResourceQuota/team-alpha/team-quota", "      pods 99 -> 4: was changed by",
                                   "      kubectl-patch, 2s ago", "Plan: 1 to change."});
  // One long name moves the words of others no further than is good for them.
  const std::string name(58, 'n');
  plan.chains.push_back(ChainOf(name, {{CreateNamespace{"team-" + name, {}}, Cause::kMissing, {}}}));
  CHECK(LinesOf(plan, 80) == Lines{"~ ResourceQuota/team-alpha/team-quota   pods 99 -> 4: was changed by",
                                   "                                        kubectl-patch, 2s ago",
                                   "+ Namespace/team-" + name, "      TeamSpace " + name + " has", "      none",
                                   "Plan: 1 to create, 1 to change."});
  CHECK(LinesOf(plan, std::nullopt)[1] == "+ Namespace/team-" + name + "   TeamSpace " + name + " has none");
}

TEST_CASE("PlanLines says of several fields once what is so of each", "[app][plan_view]") {
  const Writer writer{"kubectl-edit", "Update", "", kNow - std::chrono::seconds(4)};
  Plan plan;
  plan.chains.push_back(ChainOf(
      "red", {{WriteStatus{},
               Cause::kBehind,
               {{"status.observedGeneration", "7", "1", writer}, {"status.namespace", "x", "team-red", writer}}}}));
  CHECK(LinesOf(plan, 80) == Lines{"~ TeamSpace/red   status: observedGeneration 7 -> 1",
                                   "                  namespace x -> team-red",
                                   "                  each was changed by kubectl-edit, 4s ago", "Plan: 1 to change."});
}

TEST_CASE("PlanLines fits every width, and says the same at each", "[app][plan_view]") {
  const Verdicts verdicts = BusyVerdicts();
  const auto letters = [&verdicts](std::size_t width) {
    std::string text;
    for (const std::string& line : LinesOf(BusyPlan(), width, &verdicts)) {
      CHECK(DisplayWidth(line) <= width);
      text += line;
    }
    std::erase(text, ' ');
    return text;
  };
  const std::string want = letters(1000);
  for (std::size_t width = 20; width <= 200; ++width) {
    CAPTURE(width);
    CHECK(letters(width) == want);
  }
}

TEST_CASE("PlanLines counts columns, not bytes", "[app][plan_view]") {
  const Lines lines = PlanLines(BusyPlan(), nullptr, Renderer(kNow, {}, "/보관"), {});
  CHECK(lines[0] == "+ /보관/delta.json                      archive of TeamSpace delta");
  CHECK(lines[1] == "- TeamSpace/delta                       finalizer platform.labhub.io/cleanup removed");
}

TEST_CASE("PlanLines colours what was and what will be, who it was, and symbols", "[app][plan_view]") {
  Plan plan;
  plan.chains.push_back(ChainOf("alpha", {Drift()}));
  const Renderer renderer(kNow, {.color = true, .columns = {}}, "");
  const std::string words =
      "pods \033[31m99\033[0m -> \033[32m4\033[0m\033[2m: was changed by kubectl-patch, 2s ago\033[0m";
  const std::string head = "\033[33m~\033[0m ResourceQuota/team-alpha/team-quota   ";
  CHECK(PlanLines(plan, nullptr, renderer, {.color = true, .columns = 200})[0] == head + words);
  CHECK(PlanLines(plan, nullptr, renderer, {.color = true, .columns = std::nullopt})[0] == head + words);
  plan.chains[0].changes.push_back({AddFinalizer{}, Cause::kMissing, {}});
  CHECK(PlanLines(plan, nullptr, renderer, {.color = true, .columns = 200})[0] == "\033[1mTeamSpace alpha\033[0m");
}

}  // namespace
}  // namespace cnpa
