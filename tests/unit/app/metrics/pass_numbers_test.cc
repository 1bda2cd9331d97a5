// SPDX-License-Identifier: Apache-2.0
#include "app/metrics/pass_numbers.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/random.h"

namespace cnpa {
namespace {

const Refusal kConflict{Reason::kNamespaceConflict, ""};
const Refusal kTerminating{Reason::kNamespaceTerminating, ""};

TEST_CASE("RequestIndex counts each code that an API server sends, others by their class", "[app][pass_numbers]") {
  struct Case {
    int code;
    std::string_view want;
  };
  const std::vector<Case> cases{{200, "200"},  {409, "409"}, {504, "504"}, {418, "4xx"},   {299, "2xx"},
                                {100, "1xx"},  {302, "3xx"}, {599, "5xx"}, {0, "none"},    {99, "none"},
                                {600, "none"}, {-1, "none"}, {4, "none"},  {12345, "none"}};
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.code) {
      const std::size_t index = RequestIndex("patch", c.code);
      CHECK(kVerbs.at(index / kCodes.size()) == "patch");
      CHECK(kCodes.at(index % kCodes.size()) == c.want);
    }
  }
}

TEST_CASE("PassNumbers::SetRequests adds up what is counted in the same place", "[app][pass_numbers]") {
  PassNumbers numbers;
  numbers.SetRequests({{{"list", 200}, 3}, {{"get", 418}, 1}, {{"get", 499}, 2}, {{"delete", 0}, 1}});
  PassNumbers want;
  want.requests[RequestIndex("list", 200)] = 3;
  want.requests[RequestIndex("get", 418)] = 3;
  want.requests[RequestIndex("delete", 0)] = 1;
  CHECK(numbers == want);
}

TEST_CASE("WriteIndex names the kind of what is changed", "[app][pass_numbers]") {
  const std::vector<std::pair<Effect, std::string_view>> cases{
      {AddFinalizer{}, "TeamSpace"},    {RemoveFinalizer{}, "TeamSpace"}, {WriteStatus{}, "TeamSpace"},
      {CreateNamespace{}, "Namespace"}, {RepairNamespace{}, "Namespace"}, {CreateQuota{}, "ResourceQuota"},
      {RepairQuota{}, "ResourceQuota"}, {DeleteQuota{}, "ResourceQuota"}, {WriteArchive{}, "Archive"},
  };
  for (const auto& [effect, want] : cases) {
    const std::size_t index = WriteIndex({effect, Cause::kBehind, {}});
    CHECK(kKinds.at(index / kCauseCount) == want);
    CHECK(static_cast<Cause>(index % kCauseCount) == Cause::kBehind);
  }
}

/// Returns how each of `plan`'s team spaces stands after `report`, the zeros left out.
std::string States(const Plan& plan, const Report& report) {
  PassNumbers numbers;
  numbers.Add(plan, report);
  std::string text;
  for (std::size_t i = 0; i < numbers.spaces.size(); ++i) {
    if (numbers.spaces[i] == 0) continue;
    const auto reason = static_cast<Reason>(i % kReasonCount);
    text += std::string(text.empty() ? "" : ", ") + std::to_string(numbers.spaces[i]) + " " +
            std::string(kSpaceStates.at(i / kReasonCount));
    if (reason != Reason::kReconciled) text += " " + std::string(ReasonName(reason));
  }
  return text;
}

TEST_CASE("PassNumbers::Add puts each team space into one state", "[app][pass_numbers]") {
  struct Case {
    std::string name;
    Chain chain;
    ChainReport done;
    std::string want;
  };
  const std::vector<Case> cases{
      {"repaired", {}, {.end = ChainEnd::kComplete}, "3 in_sync"},
      {"deleted", {.deleting = true}, {.end = ChainEnd::kComplete}, "2 in_sync"},
      {"refused", {}, {.end = ChainEnd::kComplete, .refusal = kConflict}, "2 in_sync, 1 refused NamespaceConflict"},
      {"refused while it is deleted",
       {.deleting = true},
       {.end = ChainEnd::kFailed, .refusal = Refusal{Reason::kArchiveFailed, ""}},
       "2 in_sync, 1 refused ArchiveFailed"},
      {"waiting",
       {},
       {.end = ChainEnd::kComplete, .refusal = kTerminating},
       "2 in_sync, 1 waiting NamespaceTerminating"},
      {"failed", {}, {.end = ChainEnd::kFailed}, "2 in_sync, 1 failed"},
      {"a lost race", {}, {.end = ChainEnd::kLostRace}, "2 in_sync, 1 left"},
      {"not begun", {.deleting = true}, {.end = ChainEnd::kLeft}, "2 in_sync, 1 left"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(States({.chains = {c.chain}, .team_spaces = 3}, {.chains = {c.done}}) == c.want);
    }
  }
}

TEST_CASE("PassNumbers::Add adds writes over the rounds of a pass, and keeps the states of the last one",
          "[app][pass_numbers]") {
  const Chain chain{.changes = {{CreateNamespace{}, Cause::kMissing, {}}, {CreateQuota{}, Cause::kMissing, {}}}};
  const Plan plan{.chains = {chain}, .team_spaces = 1};
  PassNumbers numbers;
  CHECK_FALSE(numbers.looked_at_all());
  numbers.Add(plan, {.chains = {{.done = 1, .end = ChainEnd::kLostRace}}});
  CHECK_FALSE(numbers.looked_at_all());
  numbers.Add(plan, {.chains = {{.done = 2, .end = ChainEnd::kComplete}}});
  CHECK(numbers.looked_at_all());
  numbers.Add(plan, {.chains = {{.done = 0, .end = ChainEnd::kFailed, .refusal = kConflict, .told = true}}});
  PassNumbers want{.read = true};
  want.writes[WriteIndex(chain.changes[0])] = 2;
  want.writes[WriteIndex(chain.changes[1])] = 1;
  want.writes[WriteIndex({WriteStatus{}, Cause::kBehind, {}})] = 1;
  want.spaces[SpaceIndex(SpaceState::kRefused, Reason::kNamespaceConflict)] = 1;
  CHECK(numbers == want);
}

TEST_CASE("DecodePassNumbers reads what EncodePassNumbers writes", "[app][pass_numbers]") {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    PassNumbers numbers{.read = random.OneIn(2)};
    for (std::uint64_t& number : numbers.requests) number = random.OneIn(10) ? random.Below(1U << 30U) : 0;
    for (std::uint64_t& number : numbers.writes) number = random.OneIn(10) ? UINT64_MAX : 0;
    for (std::uint64_t& number : numbers.spaces) number = random.OneIn(10) ? random.Below(10000) : 0;
    const Result<PassNumbers> decoded = DecodePassNumbers(EncodePassNumbers(numbers));
    REQUIRE(decoded);
    CHECK(*decoded == numbers);
  }
}

TEST_CASE("DecodePassNumbers refuses what EncodePassNumbers does not write", "[app][pass_numbers]") {
  for (const char* text : {"x", "r", "r1", "r1:", "r:1", "r1:x", "r1:-1", "r1:1,", ",r1:1", "r1:1,,r2:1", "r125:1",
                           "w30:1", "s70:1", "r1:1,r1:2", "read,read", "r1:18446744073709551616", "q1:1", "r1:1 "}) {
    CAPTURE(text);
    CHECK(ErrorOf(DecodePassNumbers(text)) == Error{ErrorCode::kMalformed, "not the numbers of a pass"});
  }
}

}  // namespace
}  // namespace cnpa
