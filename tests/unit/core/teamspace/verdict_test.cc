// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/verdict.h"

#include <string>
#include <utility>
#include <vector>

#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

Change Of(Effect effect) {
  return {std::move(effect), Cause::kMissing, {}};
}

Chain ChainOf(std::vector<Effect> effects) {
  Chain chain;
  chain.name = "red";
  for (Effect& effect : effects) chain.changes.push_back(Of(std::move(effect)));
  return chain;
}

TEST_CASE("AnswerName spells each answer as documents do", "[core][verdict]") {
  const std::vector<std::pair<Answer, std::string>> names{{Answer::kAccepted, "accepted"},
                                                          {Answer::kRefused, "refused"},
                                                          {Answer::kOutdated, "outdated"},
                                                          {Answer::kNotChecked, "notChecked"}};
  for (const auto& [answer, name] : names) CHECK(AnswerName(answer) == name);
}

TEST_CASE("ComputeObstacle holds back only a quota whose place is not free yet", "[core][verdict]") {
  struct Case {
    std::string name;
    std::vector<Effect> effects;
    std::optional<std::string> want;  ///< Of the last one.
  };
  const CreateQuota quota{"team-red", {}};
  const std::vector<Case> cases{
      {"a quota alone", {quota}, std::nullopt},
      {"a quota in a namespace that is there",
       {AddFinalizer{}, RepairNamespace{.name = "team-red"}, quota},
       std::nullopt},
      {"a quota in a new namespace", {CreateNamespace{"team-red", {}}, quota}, "namespace team-red is not created yet"},
      {"a quota in another's place",
       {DeleteQuota{"team-red", "u"}, quota},
       "ResourceQuota/team-red/team-quota is still there"},
      {"a namespace", {AddFinalizer{}, CreateNamespace{"team-red", {}}}, std::nullopt},
      {"a status behind all of it",
       {AddFinalizer{}, CreateNamespace{"team-red", {}}, quota, WriteStatus{}},
       std::nullopt},
      {"a finalizer behind an archive", {WriteArchive{}, RemoveFinalizer{}}, std::nullopt},
      {"a repair", {AddFinalizer{}, RepairQuota{"team-red", "u", {}, {}}}, std::nullopt},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ComputeObstacle(ChainOf(c.effects), c.effects.size() - 1) == c.want);
    }
  }
}

TEST_CASE("ComputeVerdict tells a refusal from what is no answer", "[core][verdict]") {
  struct Case {
    std::string name;
    Effect effect;
    Status answer;
    Verdict want;
  };
  const CreateQuota quota{"team-red", {}};
  const Verdict accepted{Answer::kAccepted, std::nullopt, ""};
  const auto no = [](ErrorCode code, const std::string& words = "words") { return Fail(code, words); };
  const std::vector<Case> cases{
      {"accepted", quota, {}, accepted},
      {"a value", quota, no(ErrorCode::kInvalid), {Answer::kRefused, Reason::kQuotaRefused, "words"}},
      {"a policy on namespaces",
       CreateNamespace{"team-red", {}},
       no(ErrorCode::kInvalid),
       {Answer::kRefused, Reason::kWriteFailed, "words"}},
      {"a right",
       quota,
       no(ErrorCode::kDenied, "forbidden: x"),
       {Answer::kRefused, Reason::kForbidden, "forbidden: x"}},
      {"credentials",
       quota,
       no(ErrorCode::kDenied, "unauthorized: x"),
       {Answer::kNotChecked, std::nullopt, "unauthorized: x"}},
      {"not understood", quota, no(ErrorCode::kMalformed), {Answer::kRefused, Reason::kWriteFailed, "words"}},
      {"another was faster", quota, no(ErrorCode::kConflict), {Answer::kOutdated, std::nullopt, "words"}},
      {"it goes away", quota, no(ErrorCode::kTerminating), {Answer::kOutdated, std::nullopt, "words"}},
      {"it is gone", quota, no(ErrorCode::kNotFound), {Answer::kOutdated, std::nullopt, "words"}},
      {"what goes is gone", DeleteQuota{"team-red", "u"}, no(ErrorCode::kNotFound), accepted},
      {"a webhook without dry run", quota, no(ErrorCode::kUnsupported), {Answer::kNotChecked, std::nullopt, "words"}},
      {"away", quota, no(ErrorCode::kUnreachable), {Answer::kNotChecked, std::nullopt, "words"}},
      {"no answer", quota, no(ErrorCode::kUnavailable), {Answer::kNotChecked, std::nullopt, "words"}},
      {"told to end", quota, no(ErrorCode::kStopped), {Answer::kNotChecked, std::nullopt, "words"}},
      {"a folder", WriteArchive{}, no(ErrorCode::kInvalid), {Answer::kRefused, Reason::kArchiveFailed, "words"}},
      {"a folder's parent",
       WriteArchive{},
       no(ErrorCode::kNotFound),
       {Answer::kRefused, Reason::kArchiveFailed, "words"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const Chain chain = ChainOf({c.effect});
      CHECK(ComputeVerdict(chain, chain.changes[0], c.answer) == c.want);
    }
  }
}

TEST_CASE("CountVerdicts counts what the server was to say, and archives for themselves", "[core][verdict]") {
  Plan plan;
  plan.chains = {ChainOf({WriteArchive{}, RemoveFinalizer{}}), ChainOf({AddFinalizer{}, WriteStatus{}}),
                 ChainOf({AddFinalizer{}})};
  const Verdict refused{Answer::kRefused, Reason::kArchiveFailed, "full"};
  const Verdict accepted{Answer::kAccepted, std::nullopt, ""};
  const VerdictCounts counts = CountVerdicts(
      plan, {{refused, accepted}, {{Answer::kOutdated, {}, "x"}, {Answer::kNotChecked, {}, "x"}}, {refused}});
  CHECK(counts.accepted == 1);
  CHECK(counts.refused == 1);
  CHECK(counts.outdated == 1);
  CHECK(counts.not_checked == 1);
  CHECK(counts.archive_refused);
  CHECK_FALSE(CountVerdicts(plan, {{accepted, accepted}, {accepted, accepted}, {accepted}}).archive_refused);
}

}  // namespace
}  // namespace cnpa
