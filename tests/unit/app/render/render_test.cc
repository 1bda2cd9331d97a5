// SPDX-License-Identifier: Apache-2.0
#include "app/render/render.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/teamspace/status.h"
#include "support/builders.h"
#include "support/describe.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Chain RedChain() {
  Chain chain;
  chain.name = "red";
  return chain;
}

std::string ChangeLine(Effect effect, std::vector<FieldChange> fields = {}) {
  return Renderer(kNow, {}, "/archive").ChangeLine(RedChain(), {std::move(effect), Cause::kDiffers, std::move(fields)});
}

TEST_CASE("Renderer::ChangeLine says how often what is contested was repaired", "[app][render]") {
  const Renderer renderer(kNow, {}, "/archive");
  const std::string front = "~ ResourceQuota/team-red/team-quota        pods 99 -> 2, requests.cpu 8 -> 1";
  Change change{RepairQuota{"team-red", "u", {}, {}},
                Cause::kDiffers,
                {{"spec.hard.pods", "99", "2", {}}, {"spec.hard.requests.cpu", "8", "1", {}}}};
  CHECK(renderer.ChangeLine(RedChain(), change) == front);
  change.fields[0].contested = Contest{3, kNow - seconds(6)};
  CHECK(renderer.ChangeLine(RedChain(), change) == front + ": contested, 3 times in 6s");
  change.fields[1].contested = Contest{7, kNow - seconds(85)};  // The worst of them.
  CHECK(renderer.ChangeLine(RedChain(), change) == front + ": contested, 7 times in 1m25s");
  const Change anew{.effect = AddFinalizer{}, .contested = Contest{4, kNow - seconds(9)}};
  CHECK(renderer.ChangeLine(RedChain(), anew) ==
        "~ TeamSpace/red                            finalizer platform.labhub.io/cleanup added: contested, 4 times in "
        "9s");
}

TEST_CASE("Renderer::FightLine names the team space", "[app][render]") {
  CHECK(Renderer(kNow, {}, "").FightLine("TeamSpace/red", "helm does it") ==
        "! TeamSpace/red                            Contested: helm does it");
}

TEST_CASE("Renderer::ChangeLine says what is done to which object, and why", "[app][render]") {
  struct Case {
    std::string name;
    Effect effect;
    std::vector<FieldChange> fields;
    std::string want;
  };
  const Writer kubectl{"kubectl-patch", "Update", "", kNow - seconds(4)};
  const Writer timeless{"kubectl-edit", "Update", "", std::nullopt};
  const Writer ahead{"kubectl-edit", "Update", "", kNow + seconds(60)};
  const Absence removed{true, {kNow, {}}};
  const Writer yesterday{"kubectl-edit", "Update", "", kNow - std::chrono::hours(25)};
  const std::vector<Case> cases{
      {"finalizer on",
       AddFinalizer{},
       {},
       "~ TeamSpace/red                            finalizer platform.labhub.io/cleanup added"},
      {"finalizer off",
       RemoveFinalizer{},
       {},
       "- TeamSpace/red                            finalizer platform.labhub.io/cleanup removed"},
      {"namespace",
       CreateNamespace{"team-red", {}},
       {},
       "+ Namespace/team-red                       TeamSpace red has none"},
      {"quota",
       CreateQuota{"team-red", {{"pods", "6"}, {"requests.cpu", "1"}}},
       {},
       "+ ResourceQuota/team-red/team-quota        pods 6, requests.cpu 1"},
      {"quota changed by somebody",
       RepairQuota{"team-red", "u", {}, {}},
       {{"spec.hard.pods", "99", "2", kubectl}},
       "~ ResourceQuota/team-red/team-quota        pods 99 -> 2: was changed by kubectl-patch, 4s ago"},
      {"a writer without time",
       RepairQuota{"team-red", "u", {}, {}},
       {{"spec.hard.pods", "99", "2", timeless}},
       "~ ResourceQuota/team-red/team-quota        pods 99 -> 2: was changed by kubectl-edit"},
      {"a server whose clock is ahead",
       RepairQuota{"team-red", "u", {}, {}},
       {{"spec.hard.pods", "99", "2", ahead}},
       "~ ResourceQuota/team-red/team-quota        pods 99 -> 2: was changed by kubectl-edit, 0s ago"},
      {"long ago",
       RepairQuota{"team-red", "u", {}, {}},
       {{"spec.hard.pods", "99", "2", yesterday}},
       "~ ResourceQuota/team-red/team-quota        pods 99 -> 2: was changed by kubectl-edit, 1d1h ago"},
      {"keys that come and go",
       RepairQuota{"team-red", "u", {}, {}},
       {{"spec.hard.pods", std::nullopt, "2", std::nullopt}, {"spec.hard.cpu", "1", std::nullopt, std::nullopt}},
       "~ ResourceQuota/team-red/team-quota        pods none -> 2, cpu 1 -> none"},
      {"fields of which the same is to be said",
       RepairQuota{"team-red", "u", {}, {}},
       {{"spec.hard.a", "1", "2", kubectl},
        {"spec.hard.b", "1", "2", kubectl},
        {"spec.hard.c", "1", "2"},
        {"spec.hard.d", std::nullopt, "2", std::nullopt, removed}},
       "~ ResourceQuota/team-red/team-quota        a 1 -> 2, b 1 -> 2: each was changed by kubectl-patch, 4s ago, "
       "c 1 -> 2, d none -> 2: was removed, the server does not say by whom"},
      {"a finalizer that was removed",
       AddFinalizer{},
       {{.path = "metadata.finalizers", .to = "x", .absence = removed}},
       "~ TeamSpace/red                            finalizer platform.labhub.io/cleanup added: was removed, the "
       "server does not say by whom"},
      {"quota with scopes",
       DeleteQuota{"team-red", "u"},
       {},
       "- ResourceQuota/team-red/team-quota        has scopes, which narrow it and can't be changed"},
      {"quota with scopes that somebody set",
       DeleteQuota{"team-red", "u"},
       {{"spec.scopes", "BestEffort", std::nullopt, kubectl}},
       "- ResourceQuota/team-red/team-quota        has scopes, which narrow it and can't be changed: were set by "
       "kubectl-patch, 4s ago"},
      {"label",
       RepairNamespace{.name = "team-red"},
       {{"metadata.labels['platform.labhub.io/teamspace']", std::nullopt, "red", std::nullopt}},
       "~ Namespace/team-red                       label platform.labhub.io/teamspace none -> red"},
      {"status",
       WriteStatus{},
       {{"status.observedGeneration", "1", "2", std::nullopt}},
       "~ TeamSpace/red                            status: observedGeneration 1 -> 2"},
      {"archive",
       WriteArchive{.name = "red", .uid = "u"},
       {},
       "+ /archive/red.json                        archive of TeamSpace red"},
      {"an object longer than its column",
       CreateNamespace{"team-" + std::string(58, 'a'), {}},
       {},
       "+ Namespace/team-" + std::string(58, 'a') + " TeamSpace red has none"},
      {"a value from outside with a line break",
       RepairQuota{"team-red", "u", {}, {}},
       {{"spec.hard.pods", "9\n\x1b[0m", "2", std::nullopt}},
       "~ ResourceQuota/team-red/team-quota        pods 9  [0m -> 2"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ChangeLine(c.effect, c.fields) == c.want);
    }
  }
}

TEST_CASE("Renderer::ChangeFields has what machines look for", "[app][render]") {
  const Renderer renderer(kNow, {}, "/archive");
  const auto fields = [&renderer](Effect effect, std::vector<FieldChange> changes = {}) {
    return renderer.ChangeFields(RedChain(), {std::move(effect), Cause::kDiffers, std::move(changes)});
  };
  const std::string quota = "ResourceQuota/team-red/team-quota";
  CHECK(fields(RepairQuota{"team-red", "u", {}, {}}, {{"spec.hard.pods", "99", "2", {}}}) ==
        LogFields{"red", quota, "Differs", "update", "spec.hard.pods", "99", "2"});
  CHECK(fields(RepairQuota{"team-red", "u", {}, {}},
               {{"spec.hard.pods", "9", "2", {}}, {"spec.hard.cpu", "1", std::nullopt, {}}}) ==
        LogFields{"red", quota, "Differs", "update", "spec.hard.pods, spec.hard.cpu", "9, 1", "2, none"});
  CHECK(fields(CreateQuota{"team-red", {{"pods", "6"}, {"requests.cpu", "1"}}}) ==
        LogFields{"red", quota, "Differs", "create", "spec.hard.pods, spec.hard.requests.cpu", "", "6, 1"});
  CHECK(fields(RemoveFinalizer{}) == LogFields{"red", "TeamSpace/red", "Differs", "update", "metadata.finalizers",
                                               "platform.labhub.io/cleanup", ""});
  CHECK(fields(WriteArchive{.name = "red", .uid = "u"}) ==
        LogFields{"red", "/archive/red.json", "Differs", "archive", "", "", ""});
}

TEST_CASE("Renderer pads nothing for machines", "[app][render]") {
  const Renderer renderer(kNow, {.columns = {}, .aligned = false}, "/archive");
  CHECK(renderer.ChangeLine(RedChain(), {CreateNamespace{"team-red", {}}, Cause::kMissing, {}}) ==
        "+ Namespace/team-red TeamSpace red has none");
}

TEST_CASE("Renderer shortens a value that no person reads", "[app][render]") {
  const std::string line =
      ChangeLine(RepairQuota{"team-red", "u", {}, {}}, {{"spec.hard.pods", std::string(1 << 20, '9'), "2", {}}});
  CHECK(line.size() < 2000);
  CHECK(line.ends_with("99 ... -> 2"));
}

TEST_CASE("Renderer lays words out so that a refusal takes few lines", "[app][render]") {
  const Refusal refusal{Reason::kNamespaceConflict,
                        "namespace team-delta exists and is not ours: take another name, or hand it over with: kubectl "
                        "label namespace team-delta --overwrite platform.labhub.io/teamspace=delta"};
  const auto line = [&refusal](std::size_t columns) {
    return Renderer(kNow, {.columns = columns}, "").RefusalLine("TeamSpace/delta", refusal);
  };
  const std::string command = "    kubectl label namespace team-delta --overwrite platform.labhub.io/teamspace=delta";
  CHECK(line(80) ==
        "! TeamSpace/delta  NamespaceConflict: namespace team-delta exists and is not\n"
        "      ours: take another name, or hand it over with:\n" +
            command);
  CHECK(
      line(120) ==
      "! TeamSpace/delta                          NamespaceConflict: namespace team-delta exists and is not ours: take "
      "another\n"
      "                                           name, or hand it over with:\n" +
          command);
  CHECK(line(40).ends_with("\n" + command));
}

TEST_CASE("Renderer::AlikeLine names some of those that are refused alike", "[app][render]") {
  const Renderer renderer(kNow, {.columns = {}, .aligned = false}, "");
  CHECK(renderer.AlikeLine(Reason::kNamespaceConflict, {"a", "b", "c", "d", "e"}) ==
        "! 5 more team spaces NamespaceConflict: a, b, c and 2 more; each in full: cnpa-op explain a");
  CHECK(renderer.AlikeLine(Reason::kNamespaceConflict, {"a", "b", "c", "d"}) ==
        "! 4 more team spaces NamespaceConflict: a, b, c, d; each in full: cnpa-op explain a");
  CHECK(renderer.AlikeLine(Reason::kNamespaceTerminating, {"a"}) ==
        ". 1 more team space NamespaceTerminating: a; each in full: cnpa-op explain a");
}

TEST_CASE("Renderer::RefusalLine marks what time alone will mend with a dot", "[app][render]") {
  const Renderer renderer(kNow, {}, "");
  CHECK(renderer.RefusalLine("TeamSpace/red", {Reason::kNamespaceConflict, "not ours"}) ==
        "! TeamSpace/red                            NamespaceConflict: not ours");
  CHECK(renderer.RefusalLine("TeamSpace/red", {Reason::kNamespaceTerminating, "wait"}) ==
        ". TeamSpace/red                            NamespaceTerminating: wait");
}

TEST_CASE("Renderer::FailureLine says what went wrong", "[app][render]") {
  CHECK(Renderer(kNow, {}, "").FailureLine("TeamSpace/red", {ErrorCode::kUnavailable, "connection refused"}) ==
        "! TeamSpace/red                            connection refused");
}

TEST_CASE("Renderer::LostRaceLine says whose change it was before what the server says", "[app][render]") {
  CHECK(Renderer(kNow, {}, "").LostRaceLine("TeamSpace/red", {ErrorCode::kConflict, "PATCH /x: 422 Invalid"}) ==
        "! TeamSpace/red                            changed during this pass, the next one tries again (PATCH /x: 422 "
        "Invalid)");
}

TEST_CASE("Renderer colours the symbol alone", "[app][render]") {
  const Renderer renderer(kNow, {.color = true, .columns = {}}, "");
  CHECK(renderer.FailureLine("TeamSpace/red", {ErrorCode::kInvalid, "x"})
            .starts_with("\033[1;31m!\033[0m TeamSpace/red "));
  CHECK(renderer.ChangeLine(RedChain(), {CreateNamespace{"n", {}}, Cause::kMissing, {}})
            .starts_with("\033[32m+\033[0m Namespace/n "));
}

TEST_CASE("Count adds an s to all but one", "[app][render]") {
  CHECK(Count(0, "write") == "0 writes");
  CHECK(Count(1, "team space") == "1 team space");
  CHECK(Count(2, "team space") == "2 team spaces");
}

TEST_CASE("PlanSummary counts what a plan would do", "[app][render]") {
  CHECK(PlanSummary({}) == "No differences.");
  Plan plan;
  plan.chains = {
      Chain{.changes = {{AddFinalizer{}, Cause::kMissing, {}},
                        {CreateNamespace{}, Cause::kMissing, {}},
                        {CreateQuota{}, Cause::kMissing, {}}}},
      Chain{.changes = {{WriteArchive{}, Cause::kBeingDeleted, {}}, {RemoveFinalizer{}, Cause::kBeingDeleted, {}}}},
      Chain{.refusal = Refusal{Reason::kNamespaceConflict, ""}},
      Chain{.refusal = Refusal{Reason::kNamespaceTerminating, ""}}};
  CHECK(PlanSummary(plan) == "Plan: 2 to create, 1 to change, 1 to release, 1 refused, 1 waiting.");
  plan.chains = {Chain{.refusal = Refusal{Reason::kInvalidName, ""}}};
  CHECK(PlanSummary(plan) == "Plan: 1 refused.");
}

TEST_CASE("VerdictSummary stands behind a plan that the server was asked about", "[app][render]") {
  CHECK(VerdictSummary({}).empty());
  CHECK(VerdictSummary({.accepted = 3}) == " The server accepts 3.");
  CHECK(VerdictSummary({.accepted = 2, .refused = 1, .not_checked = 1}) ==
        " The server accepts 2, refuses 1; 1 not checked.");
  CHECK(VerdictSummary({.refused = 1, .outdated = 2}) == " The server refuses 1; 2 changed since.");
  CHECK(VerdictSummary({.outdated = 1, .not_checked = 1}) == " 1 not checked, 1 changed since.");
  CHECK(VerdictSummary({.archive_refused = true}) == " Archives can't be written.");
  CHECK(VerdictSummary({.accepted = 1, .archive_refused = true}) ==
        " The server accepts 1. Archives can't be written.");
}

TEST_CASE("TotalsLine tells what came of a pass", "[app][render]") {
  CHECK(TotalsLine({.team_spaces = 5, .changed = 3, .deleted = 1, .refused = 1, .writes = 9}, milliseconds(41)) ==
        "5 team spaces: 3 changed, 1 deleted, 1 refused; 9 writes in 41 ms");
  CHECK(TotalsLine({.team_spaces = 1, .writes = 1}, milliseconds(1300)) == "1 team space: in sync; 1 write in 1.3 s");
  CHECK(TotalsLine({.team_spaces = 6, .created = 1, .waiting = 2, .failed = 3, .left = 4}, milliseconds(0)) ==
        "6 team spaces: 1 created, 2 waiting, 3 failed, 4 left for the next pass; 0 writes in 0 ms");
}

}  // namespace
}  // namespace cnpa
