// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/verdict.h"

#include <utility>

#include "core/permissions/unauthorized.h"
#include "core/teamspace/plan.h"

namespace cnpa {
namespace {

Verdict Accepted() {
  return {.answer = Answer::kAccepted, .reason = {}, .message = {}};
}

Verdict Refused(const Chain& chain, const Change& change, const Error& error) {
  const std::optional<Refusal> refusal = ClassifyFailure(chain, change, error);
  return {.answer = Answer::kRefused,
          .reason = refusal ? std::optional(refusal->reason) : std::nullopt,
          .message = error.message};
}

}  // namespace

std::string_view AnswerName(Answer answer) {
  switch (answer) {
    case Answer::kAccepted: return "accepted";
    case Answer::kRefused: return "refused";
    case Answer::kOutdated: return "outdated";
    case Answer::kNotChecked: return "notChecked";
  }
  return "";
}

std::optional<std::string> ComputeObstacle(const Chain& chain, std::size_t index) {
  // Patches test only what no change in front of them touches, so all but a new quota can be tried alone.
  const auto* quota = std::get_if<CreateQuota>(&chain.changes[index].effect);
  if (quota == nullptr) return std::nullopt;
  if (NamespaceMade(chain, index) != nullptr) return "namespace " + quota->namespace_name + " is not made yet";
  for (std::size_t i = 0; i < index; ++i) {
    if (std::holds_alternative<DeleteQuota>(chain.changes[i].effect)) return "the quota of that name is still there";
  }
  return std::nullopt;
}

Verdict ComputeVerdict(const Chain& chain, const Change& change, const Status& answer) {
  if (answer) return Accepted();
  const Error& error = answer.error();
  switch (error.code) {
    case ErrorCode::kNotFound:
      // What was to be deleted is not there: that is as good.
      if (std::holds_alternative<DeleteQuota>(change.effect)) return Accepted();
      // An archive whose folder can't be made.
      if (std::holds_alternative<WriteArchive>(change.effect)) {
        return Refused(chain, change, {ErrorCode::kInvalid, error.message});
      }
      [[fallthrough]];
    case ErrorCode::kConflict:
    case ErrorCode::kTerminating: return {.answer = Answer::kOutdated, .reason = {}, .message = error.message};
    case ErrorCode::kDenied:
      // Credentials that are taken no more say nothing of the change.
      if (IsUnauthorized(error)) break;
      [[fallthrough]];
    case ErrorCode::kInvalid:
    case ErrorCode::kMalformed: return Refused(chain, change, error);
    case ErrorCode::kUnreachable:
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnsupported:
    case ErrorCode::kStopped: break;
  }
  return {.answer = Answer::kNotChecked, .reason = {}, .message = error.message};
}

VerdictCounts CountVerdicts(const Plan& plan, const Verdicts& verdicts) {
  VerdictCounts counts;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    for (std::size_t j = 0; j < verdicts[i].size(); ++j) {
      const Answer answer = verdicts[i][j].answer;
      if (std::holds_alternative<WriteArchive>(plan.chains[i].changes[j].effect)) {
        counts.archive_refused = counts.archive_refused || answer == Answer::kRefused;
        continue;
      }
      switch (answer) {
        case Answer::kAccepted: ++counts.accepted; break;
        case Answer::kRefused: ++counts.refused; break;
        case Answer::kOutdated: ++counts.outdated; break;
        case Answer::kNotChecked: ++counts.not_checked; break;
      }
    }
  }
  return counts;
}

}  // namespace cnpa
