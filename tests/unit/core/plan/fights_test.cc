// SPDX-License-Identifier: Apache-2.0
#include "core/plan/fights.h"

#include <string>
#include <vector>

#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using namespace std::chrono_literals;

const FightKey kPods{"uid-red", "ResourceQuota/team-red/team-quota", "spec.hard.pods", "helm"};

TEST_CASE("FightRecord takes the third repair within the window for a fight", "[core][fights]") {
  struct Case {
    std::string name;
    std::vector<std::chrono::seconds> at;  ///< After kNow.
    std::optional<Contest> want;           ///< Of the last one.
  };
  const std::vector<Case> cases{
      {"once", {0s}, {}},
      {"twice", {0s, 3s}, {}},
      {"three times", {0s, 3s, 6s}, Contest{3, kNow}},
      {"seven times", {0s, 3s, 6s, 9s, 12s, 15s, 25s}, Contest{7, kNow}},
      {"each within the window of the one before", {0s, 600s, 1200s}, Contest{3, kNow}},
      {"after a quiet time it begins anew", {0s, 3s, 6s, 607s}, {}},
      {"and counts from there", {0s, 3s, 6s, 607s, 610s, 613s}, Contest{3, kNow + 607s}},
      {"a clock that is set back a little", {0s, 3s, -5s}, Contest{3, kNow - 5s}},
      {"a clock that is set back far", {0s, 3s, -86400s}, {}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      FightRecord record;
      std::optional<Contest> last;
      for (const std::chrono::seconds at : c.at) last = record.Note(kPods, kNow + at);
      CHECK(last == c.want);
      CHECK(record.entries().size() == 1);
    }
  }
}

TEST_CASE("FightRecord keeps apart who does what to what", "[core][fights]") {
  std::vector<FightKey> keys(5, kPods);
  keys[1].uid = "uid-blue";
  keys[2].object = "Namespace/team-red";
  keys[3].subject = "spec.hard.requests.cpu";
  keys[4].manager = "";
  FightRecord record;
  for (int round = 1; round <= 2; ++round) {
    for (const FightKey& key : keys) CHECK_FALSE(record.Note(key, kNow));
  }
  CHECK(record.entries().size() == keys.size());
  for (const FightKey& key : keys) CHECK(record.Note(key, kNow) == Contest{3, kNow});
}

TEST_CASE("FightRecord drops what is over, and what is from the future", "[core][fights]") {
  FightRecord record;
  const auto put = [&record](const std::string& uid, Time last) {
    FightKey key = kPods;
    key.uid = uid;
    record.Put(key, {.count = 9, .first = last, .last = last});
  };
  put("now", kNow);
  put("just so", kNow - 600s);
  put("over", kNow - 601s);
  put("a little ahead", kNow + 600s);
  put("far ahead", kNow + 601s);
  record.Expire(kNow);
  std::vector<std::string> left;
  for (const auto& [key, repairs] : record.entries()) left.push_back(key.uid);
  CHECK(left == std::vector<std::string>{"a little ahead", "just so", "now"});
}

TEST_CASE("FightRecord is bounded: who has been quiet for longest makes room", "[core][fights]") {
  FightRecord record;
  FightKey key = kPods;
  for (std::size_t i = 0; i < FightRecord::kMostEntries + 5; ++i) {
    key.uid = "uid-" + std::to_string(i);
    record.Note(key, kNow + std::chrono::seconds(i % 300));
  }
  CHECK(record.entries().size() == FightRecord::kMostEntries);
  key.uid = "uid-0";
  CHECK_FALSE(record.entries().contains(key));
  key.uid = "uid-299";
  CHECK(record.entries().contains(key));
  key.uid = "one more";
  record.Put(key, {.count = 1, .first = kNow, .last = kNow});
  CHECK_FALSE(record.entries().contains(key));
}

TEST_CASE("FightKeyOf names what is fought for", "[core][fights]") {
  const ObjectRef quota{"ResourceQuota", "team-red", "team-quota"};
  const FieldChange pods{"spec.hard.pods", "99", "6", Writer{"helm", "Update", "", std::nullopt}};
  CHECK(FightKeyOf("uid-red", {Damage::kChanged, quota, pods}) == kPods);
  CHECK(FightKeyOf("u", {Damage::kDeleted, quota, {}}) == FightKey{"u", quota.Text(), "deleted", ""});
  CHECK(FightKeyOf("u", {Damage::kScoped, quota, {}}) == FightKey{"u", quota.Text(), "scoped", ""});
  CHECK(FightKeyOf("u", {Damage::kReleased, {"TeamSpace", "", "red"}, {}}) ==
        FightKey{"u", "TeamSpace/red", "metadata.finalizers", ""});
}

}  // namespace
}  // namespace cnpa
