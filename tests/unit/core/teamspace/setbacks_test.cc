// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/setbacks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/describe.h"
#include "core/plan/failure.h"
#include "core/teamspace/kept.h"
#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/text.h"

namespace cnpa {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

const Error kRefused{ErrorCode::kInvalid, "PATCH /x: 500: read tcp 127.0.0.1:43296: reset"};

TEST_CASE("SetbackRecord counts passes that fail in the same words", "[core][setbacks]") {
  SetbackRecord record;
  record.Note("u", kRefused, {}, kNow);
  record.Note("u", {ErrorCode::kInvalid, "PATCH /x: 503: read tcp 127.0.0.1:1: reset"}, {"a"}, kNow + 3s);
  REQUIRE(record.Find("u") != nullptr);
  CHECK(*record.Find("u") ==
        Setback{
            .words = "PATCH /x: #: read tcp #: reset", .altered = {"a"}, .count = 2, .first = kNow, .last = kNow + 3s});
  record.Note("u", {ErrorCode::kInvalid, "something else"}, {}, kNow + 6s);
  CHECK(*record.Find("u") ==
        Setback{.words = "something else", .altered = {}, .count = 1, .first = kNow + 6s, .last = kNow + 6s});
  record.Clear("u");
  CHECK(record.Find("u") == nullptr);
}

TEST_CASE("SetbackRecord begins anew after a quiet time, or a clock that jumped", "[core][setbacks]") {
  for (const std::chrono::seconds at : {3601s, -3601s}) {
    SetbackRecord record;
    record.Note("u", kRefused, {}, kNow);
    record.Note("u", kRefused, {}, kNow + at);
    CHECK(record.Find("u")->count == 1);
    record.Note("v", kRefused, {}, kNow);
    record.Expire(kNow + at);
    CHECK(record.Find("v") == nullptr);
    CHECK(record.Find("u") != nullptr);
  }
}

TEST_CASE("SetbackRecord is bounded, in number and in words", "[core][setbacks]") {
  SetbackRecord record;
  for (std::size_t i = 0; i < SetbackRecord::kMostEntries + 5; ++i) {
    record.Note("uid-" + std::to_string(i), kRefused, {}, kNow + std::chrono::seconds(i));
  }
  CHECK(record.entries().size() == SetbackRecord::kMostEntries);
  CHECK(record.Find("uid-4") != nullptr);  // What is noted stays: a new one is left out.
  CHECK(record.Find("uid-" + std::to_string(SetbackRecord::kMostEntries)) == nullptr);
  record.Put("one more", {});
  CHECK(record.Find("one more") == nullptr);
  record.Note("uid-5", {ErrorCode::kInvalid, std::string(100'000, 'x')}, {}, kNow);
  CHECK(record.Find("uid-5")->words.size() <= kLongestSetback);
}

TEST_CASE("SetbackRecord counts the passes of 3,000 failing TeamSpaces", "[core][setbacks]") {
  SetbackRecord record;
  for (std::size_t pass = 0; pass < kPassesOfLostRace; ++pass) {
    for (int i = 0; i < 3000; ++i) record.Note("uid-" + std::to_string(i), kRefused, {}, kNow + pass * 3s);
  }
  REQUIRE(record.entries().size() == 3000);
  for (const auto& [uid, setback] : record.entries()) REQUIRE(setback.count == kPassesOfLostRace);
}

TEST_CASE("SetbackRecord::KeepThoseOf forgets who has nothing to do", "[core][setbacks]") {
  SetbackRecord record;
  record.Note("uid-red", kRefused, {}, kNow);
  record.Note("uid-blue", kRefused, {}, kNow);
  Plan plan;
  plan.chains.push_back({.name = "red", .uid = "uid-red"});
  record.KeepThoseOf(plan);
  CHECK(record.entries().size() == 1);
  CHECK(record.Find("uid-red") != nullptr);
}

/// A plan with a deletion, repairs and new ones.
Plan LongPlan() {
  Plan plan{.computed_at = kNow};
  for (const auto& [name, turn] : {std::pair{"d1", Turn::kDeletion},
                                   {"d2", Turn::kDeletion},
                                   {"r1", Turn::kRepair},
                                   {"r2", Turn::kRepair},
                                   {"n1", Turn::kNew},
                                   {"n2", Turn::kNew}}) {
    plan.chains.push_back({.name = name, .uid = name, .turn = turn});
  }
  return plan;
}

Names NamesIn(const Plan& plan, const std::vector<std::size_t>& order) {
  Names names;
  for (const std::size_t i : order) names.push_back(plan.chains[i].name);
  return names;
}

TEST_CASE("ComputeBeginOrder puts who failed last last, whatever turn it is", "[core][setbacks]") {
  const Plan plan = LongPlan();
  SetbackRecord setbacks;
  CHECK(NamesIn(plan, ComputeBeginOrder(plan, setbacks)) == Names{"d1", "d2", "r1", "r2", "n1", "n2"});
  setbacks.Note("d1", kRefused, {}, kNow - 3s);
  setbacks.Note("r1", kRefused, {}, kNow - 6s);
  setbacks.Note("r2", kRefused, {}, kNow - 3s);
  CHECK(NamesIn(plan, ComputeBeginOrder(plan, setbacks)) == Names{"d2", "n1", "n2", "r1", "d1", "r2"});
}

/// Passes that give up after the first `most` chains, all of which fail but those in `good`.
TEST_CASE("ComputeBeginOrder and ComputeRotatedOrder give each its turn within a few passes", "[core][setbacks]") {
  constexpr std::size_t kChains = 100;
  constexpr std::size_t kMost = 10;
  Plan plan;
  for (std::size_t i = 0; i < kChains; ++i) {
    plan.chains.push_back({.name = std::to_string(i), .uid = "uid-" + std::to_string(i)});
  }
  for (const bool remembers : {true, false}) {
    CAPTURE(remembers);
    SetbackRecord setbacks;
    std::vector<int> turns(kChains, 0);
    const int passes = remembers ? 10 : 100;
    for (int pass = 0; pass < passes; ++pass) {
      plan.computed_at = kNow + 3s * pass;
      const std::vector<std::size_t> order = remembers ? ComputeBeginOrder(plan, setbacks) : ComputeRotatedOrder(plan);
      REQUIRE(std::set<std::size_t>(order.begin(), order.end()).size() == kChains);
      for (std::size_t i = 0; i < kMost; ++i) {
        ++turns[order[i]];
        setbacks.Note(plan.chains[order[i]].uid, kRefused, {}, plan.computed_at);
      }
    }
    CHECK(*std::min_element(turns.begin(), turns.end()) >= 1);
  }
  CHECK(ComputeRotatedOrder({}).empty());
}

/// A converged team space whose quota was kept with 2 pods, where 6 were sent, in `tries` tries, the last at kNow.
struct AlteredCluster {
  explicit AlteredCluster(int tries = 1) {
    cluster.quotas[0].hard["pods"] = "2";
    for (int i = 0; i < tries; ++i) {
      const ObjectRef quota{"ResourceQuota", "team-red", "team-quota"};
      const std::vector<FieldChange> altered{{.path = "spec.hard.pods", .from = "2", .to = "6"}};
      setbacks.Note("uid-red", AlterationError(quota, altered), AlterationKeys(quota, altered), kNow);
    }
  }

  Plan After(std::chrono::seconds span) {
    cluster.observed_at = kNow + span;
    Plan plan = ComputePlan(cluster);
    held = HoldBack(setbacks, plan);
    return plan;
  }

  Observation cluster = ConvergedCluster({"red"});
  SetbackRecord setbacks;
  Names held;
};

TEST_CASE("HoldBack sends again what the server changes only now and then", "[core][setbacks]") {
  for (const auto& [tries, pause] : {std::pair{1, 10s}, {2, 20s}, {3, 40s}, {5, 160s}, {6, 300s}, {99, 300s}}) {
    CAPTURE(tries);
    AlteredCluster altered(tries);
    const Plan held = altered.After(pause - 1s);
    CHECK(altered.held == Names{"uid-red"});
    REQUIRE(held.chains.size() == 1);
    REQUIRE(held.chains[0].refusal);
    CHECK(held.chains[0].refusal->reason == Reason::kQuotaRefused);
    CHECK(Contains(held.chains[0].refusal->message, "spec.hard.pods was sent as '6' and kept as '2'"));
    // It is told, once.
    REQUIRE(held.chains[0].changes.size() == 1);
    const auto& status = std::get<WriteStatus>(held.chains[0].changes[0].effect);
    AlteredCluster told(tries);
    told.cluster.team_spaces[0].status = status.desired;
    CHECK(told.After(pause - 1s).empty());
    CHECK(told.held == Names{"uid-red"});
    const Plan again = altered.After(pause);
    CHECK(again == ComputePlan(altered.cluster));
    CHECK(altered.held.empty());
  }
}

TEST_CASE("HoldBack holds nothing back once something has changed", "[core][setbacks]") {
  AlteredCluster altered(9);
  SECTION("the spec") {
    altered.cluster.team_spaces[0].pods = 7;
  }
  SECTION("what is kept") {
    altered.cluster.quotas[0].hard["pods"] = "3";
  }
  SECTION("something else of the quota") {
    altered.cluster.quotas[0].hard["secrets"] = "3";
  }
  SECTION("the TeamSpace is another one") {
    altered.cluster = ConvergedCluster({"blue"});
    altered.cluster.quotas[0].hard["pods"] = "2";
  }
  const Plan plan = altered.After(1s);
  CHECK(plan == ComputePlan(altered.cluster));
  CHECK(altered.held.empty());
}

TEST_CASE("HoldBack lets what comes before go on, and holds back what comes behind", "[core][setbacks]") {
  AlteredCluster altered;
  altered.cluster.namespaces[0].team_space_label.reset();
  const Plan plan = altered.After(1s);
  REQUIRE(plan.chains.at(0).changes.size() == 2);
  CHECK(std::holds_alternative<RepairNamespace>(plan.chains[0].changes[0].effect));
  CHECK(std::get<WriteStatus>(plan.chains[0].changes[1].effect).desired.ready->status == "False");
}

TEST_CASE("HoldBack writes no archive for a finalizer that it does not take off", "[core][setbacks]") {
  Observation cluster;
  cluster.team_spaces = {DeletedTeamSpaceNamed("red")};
  cluster.observed_at = kNow;
  Plan plan = ComputePlan(cluster);
  const ObjectRef object{"TeamSpace", "", "red"};
  SetbackRecord setbacks;
  setbacks.Note("uid-red", kRefused, AlterationKeys(object, Describe(plan.chains[0], plan.chains[0].changes[1]).fields),
                kNow);
  CHECK(HoldBack(setbacks, plan) == Names{"uid-red"});
  CHECK(plan.empty());
  CHECK(plan.chains[0].refusal->reason == Reason::kWriteFailed);
}

TEST_CASE("HoldBack does nothing about other setbacks", "[core][setbacks]") {
  AlteredCluster altered;
  altered.setbacks = {};
  for (int i = 0; i < 9; ++i) altered.setbacks.Note("uid-red", kRefused, {}, kNow);
  const Plan plan = altered.After(0s);
  CHECK(plan == ComputePlan(altered.cluster));
}

TEST_CASE("ClassifyLostRace is a refusal from the third pass on, in the same words", "[core][setbacks]") {
  CHECK_FALSE(ClassifyLostRace(nullptr, kRefused));
  SetbackRecord record;
  record.Note("u", kRefused, {}, kNow);
  CHECK_FALSE(ClassifyLostRace(record.Find("u"), kRefused));
  record.Note("u", kRefused, {}, kNow);
  const std::optional<Refusal> refusal = ClassifyLostRace(record.Find("u"), kRefused);
  REQUIRE(refusal);
  CHECK(refusal->reason == Reason::kWriteFailed);
  CHECK(refusal->message.ends_with(": " + kRefused.message));
  CHECK_FALSE(ClassifyLostRace(record.Find("u"), {ErrorCode::kConflict, "another race"}));
}

}  // namespace
}  // namespace cnpa
