// SPDX-License-Identifier: Apache-2.0
#include "app/stages/report.h"

#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

/// A plan of one chain, with two changes unless it has its own, and what became of it.
Totals TotalsOf(Chain chain, ChainReport done) {
  if (chain.changes.empty()) {
    chain.changes = {{AddFinalizer{}, Cause::kMissing, {}}, {RemoveFinalizer{}, Cause::kMissing, {}}};
  }
  Totals totals;
  totals.Add({.chains = {std::move(chain)}, .team_spaces = 7}, {.chains = {std::move(done)}, .writes = 2});
  CHECK(totals.team_spaces == 7);
  CHECK(totals.writes == 2);
  return totals;
}

const Refusal kRefused{Reason::kNamespaceConflict, ""};
const Refusal kWaiting{Reason::kNamespaceTerminating, ""};

TEST_CASE("ChainReport::Made leaves out an archive that was there before", "[app][report]") {
  const Chain chain{
      .changes = {{WriteArchive{}, Cause::kBeingDeleted, {}}, {RemoveFinalizer{}, Cause::kBeingDeleted, {}}}};
  CHECK(ChainReport{.done = 2}.Made(chain, 0));
  CHECK(ChainReport{.done = 2}.Made(chain, 1));
  CHECK_FALSE(ChainReport{.done = 1}.Made(chain, 1));
  CHECK_FALSE(ChainReport{.done = 2, .archive_was_there = true}.Made(chain, 0));
  CHECK(ChainReport{.done = 2, .archive_was_there = true}.Made(chain, 1));
}

TEST_CASE("Totals::Add counts each chain by how it ended", "[app][report]") {
  struct Case {
    std::string name;
    Chain chain;
    ChainReport done;
    std::size_t Totals::*counted;
    bool converged;
  };
  const std::vector<Case> cases{
      {"a new one", {.turn = Turn::kNew}, {.done = 2, .end = ChainEnd::kComplete}, &Totals::created, true},
      {"a repaired one", {}, {.done = 2, .end = ChainEnd::kComplete}, &Totals::changed, true},
      {"a deleted one",
       {.deleting = true, .turn = Turn::kDeletion, .changes = {{RemoveFinalizer{}, Cause::kBeingDeleted, {}}}},
       {.done = 1, .end = ChainEnd::kComplete},
       &Totals::deleted,
       true},
      {"one that others hold, whose status is cleared",
       {.deleting = true, .turn = Turn::kDeletion, .changes = {{WriteStatus{}, Cause::kBeingDeleted, {}}}},
       {.done = 1, .end = ChainEnd::kComplete},
       &Totals::changed,
       true},
      {"a refused one", {}, {.end = ChainEnd::kComplete, .refusal = kRefused}, &Totals::refused, false},
      {"one that waits", {}, {.end = ChainEnd::kComplete, .refusal = kWaiting}, &Totals::waiting, false},
      {"a failed one", {}, {.end = ChainEnd::kFailed}, &Totals::failed, false},
      {"a failed one that is a state of the team space",
       {},
       {.end = ChainEnd::kFailed, .refusal = kRefused},
       &Totals::refused,
       false},
      {"a lost race", {}, {.end = ChainEnd::kLostRace}, &Totals::left, false},
      {"one not begun", {}, {.end = ChainEnd::kLeft}, &Totals::left, false},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const Totals totals = TotalsOf(c.chain, c.done);
      CHECK(totals.*c.counted == 1);
      CHECK(totals.converged() == c.converged);
      CHECK(totals.created + totals.changed + totals.deleted + totals.refused + totals.waiting + totals.failed +
                totals.left ==
            1);
    }
  }
}

TEST_CASE("Totals::Add keeps what was done and forgets what a later pass mended", "[app][report]") {
  const Plan plan{.chains = {Chain{.changes = {{AddFinalizer{}, Cause::kMissing, {}}}}}, .team_spaces = 1};
  Totals totals;
  totals.Add(plan, {.chains = {{.end = ChainEnd::kLostRace}}, .writes = 1});
  CHECK(totals.left == 1);
  CHECK_FALSE(totals.converged());
  totals.Add(plan, {.chains = {{.done = 1, .end = ChainEnd::kComplete}}, .writes = 1});
  CHECK(totals.left == 0);
  CHECK(totals.changed == 1);
  CHECK(totals.writes == 2);
  CHECK(totals.converged());
}

TEST_CASE("Report::lost_race is true when any chain lost one", "[app][report]") {
  CHECK_FALSE(Report().lost_race());
  CHECK_FALSE(Report{.chains = {{.end = ChainEnd::kComplete}, {.end = ChainEnd::kFailed}}}.lost_race());
  CHECK(Report{.chains = {{.end = ChainEnd::kComplete}, {.end = ChainEnd::kLostRace}}}.lost_race());
}

}  // namespace
}  // namespace cnpa
