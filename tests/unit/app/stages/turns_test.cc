// SPDX-License-Identifier: Apache-2.0
#include "app/stages/turns.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

/// A plan of deletions ("D"), of others ("o"), and of those that only say something ("s"), in that order.
Plan PlanOf(const std::string& kinds) {
  Plan plan;
  for (const char kind : kinds) {
    Chain chain;
    chain.deleting = kind == 'D';
    if (chain.deleting) chain.changes.push_back({WriteArchive{}, Cause::kBeingDeleted, {}});
    if (kind != 's') chain.changes.push_back({RemoveFinalizer{}, Cause::kBeingDeleted, {}});
    plan.chains.push_back(std::move(chain));
  }
  return plan;
}

/// Returns the chains that begin now, as "0 1 2 ", where each archive takes `each`.
std::string Begin(Turns& turns, const Plan& plan, milliseconds each = 1ms) {
  std::string begun;
  while (const std::optional<std::size_t> i = turns.Next()) {
    begun += std::to_string(*i) + " ";
    if (plan.chains[*i].deleting) turns.NoteArchive(each);
  }
  return begun;
}

void End(Turns& turns, std::size_t chain) {
  turns.Retry();  // What was answered took some time.
  turns.Ended(chain);
}

TEST_CASE("Turns begins as many chains as may be at work, in the order of the plan", "[app][turns]") {
  struct Case {
    std::string kinds;
    std::size_t concurrency;
    std::string first;
    std::string behind_it;  ///< Once the first chain has ended.
  };
  const std::vector<Case> cases{
      {"", 4, "", ""},         {"oooo", 2, "0 1 ", "2 "},   {"DDDD", 2, "0 1 ", "2 "},  {"DDDD", 9, "0 1 2 3 ", ""},
      {"DDoo", 1, "0 ", "1 "}, {"DDoo", 9, "2 3 ", "0 1 "}, {"DDooo", 2, "2 3 ", "0 "}, {"oDo", 2, "0 2 ", "1 "},
      {"ooD", 1, "0 ", "1 "},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.kinds << " " << c.concurrency) {
      const Plan plan = PlanOf(c.kinds);
      Turns turns(plan, c.concurrency, 30s);
      CHECK(Begin(turns, plan) == c.first);
      if (c.first.empty()) return;
      End(turns, static_cast<std::size_t>(c.first[0] - '0'));
      CHECK(Begin(turns, plan) == c.behind_it);
    }
  }
}

TEST_CASE("Turns begins chains in another order than the plan's where there is one", "[app][turns]") {
  const Plan plan = PlanOf("DDoo");
  Turns turns(plan, 1, 30s, {3, 1, 2, 0});
  for (const std::size_t next : {3U, 1U, 2U, 0U}) {
    CHECK(Begin(turns, plan) == std::to_string(next) + " ");
    End(turns, next);
  }
  CHECK_FALSE(turns.waiting());
}

TEST_CASE("Turns sends what slow archives are for before it has more of them written", "[app][turns]") {
  const Plan plan = PlanOf("DDDDDDDD");
  SECTION("one at a time") {
    Turns turns(plan, 32, 30s);
    CHECK(Begin(turns, plan, 400ms) == "0 ");
    End(turns, 0);
    CHECK(Begin(turns, plan, 400ms) == "1 ");
  }
  SECTION("some at a time") {
    Turns turns(plan, 32, 30s);
    CHECK(Begin(turns, plan, 40ms) == "0 1 2 ");
    End(turns, 1);
    CHECK(Begin(turns, plan, 40ms).empty());
    End(turns, 0);
    End(turns, 2);
    CHECK(Begin(turns, plan, 40ms) == "3 4 5 ");
  }
}

TEST_CASE("Turns has others at work while archives wait", "[app][turns]") {
  const Plan plan = PlanOf("DDDDoooo");
  Turns turns(plan, 2, 30s);
  CHECK(Begin(turns, plan, 400ms) == "4 5 ");
  End(turns, 4);
  CHECK(Begin(turns, plan, 400ms) == "0 ");
  End(turns, 5);
  CHECK(Begin(turns, plan, 400ms) == "6 ");
  End(turns, 0);
  CHECK(Begin(turns, plan, 400ms) == "1 ");
}

TEST_CASE("Turns has one other chain done before the first archive, which may hang", "[app][turns]") {
  const Plan plan = PlanOf("DDsoos");
  Turns turns(plan, 9, 30s);
  CHECK(Begin(turns, plan) == "2 3 4 5 ");
  End(turns, 2);
  CHECK(Begin(turns, plan).empty());
  End(turns, 5);
  CHECK(Begin(turns, plan).empty());
  End(turns, 4);
  CHECK(Begin(turns, plan) == "0 1 ");
}

TEST_CASE("Turns has the archives come last that don't fit their part of the pass", "[app][turns]") {
  const Plan plan = PlanOf("DDDoo");
  Turns turns(plan, 1, 500ms);
  CHECK(Begin(turns, plan, 400ms) == "0 ");
  End(turns, 0);
  CHECK(Begin(turns, plan, 400ms) == "1 ");
  End(turns, 1);
  CHECK(Begin(turns, plan, 400ms) == "3 ");
  End(turns, 3);
  CHECK(Begin(turns, plan, 400ms) == "4 ");
  End(turns, 4);
  CHECK(Begin(turns, plan, 400ms) == "2 ");
}

TEST_CASE("Turns goes on with others while the folder is locked", "[app][turns]") {
  const Plan plan = PlanOf("DDoo");
  Turns turns(plan, 1, 30s);
  REQUIRE(turns.Next() == 0U);
  turns.PutBack(0);
  CHECK(turns.Next() == 2U);
  End(turns, 2);
  REQUIRE(turns.Next() == 0U);
  turns.PutBack(0);
  CHECK(turns.Next() == 3U);
  turns.Ended(3);
  CHECK(turns.Next() == std::nullopt);
  CHECK(turns.waiting());
  turns.Retry();
  CHECK(turns.Next() == 0U);
}

TEST_CASE("Turns gives up all that has not begun, whether it may begin or not", "[app][turns]") {
  const Plan plan = PlanOf("DDoo");
  Turns turns(plan, 1, 30s);
  REQUIRE(turns.Next() == 0U);
  turns.PutBack(0);
  for (const std::size_t chain : {0U, 1U, 2U, 3U}) {
    CHECK(turns.NextToGiveUp() == chain);
    turns.Ended(chain);
  }
  CHECK(turns.NextToGiveUp() == std::nullopt);
  CHECK_FALSE(turns.waiting());
}

}  // namespace
}  // namespace cnpa
