// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/verdict.h"

#include <utility>

#include "core/permissions/unauthorized.h"
#include "core/plan/describe.h"
#include "core/plan/failure.h"

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
  // Patches test only what no change in front of them touches, so all but a new object in a namespace can be tried
  // alone.
  if (ActionOf(chain.changes[index]) != Action::kCreate) return std::nullopt;
  const ObjectRef object = ObjectOf(chain, chain.changes[index]);
  if (object.namespace_name.empty()) return std::nullopt;
  if (NamespaceCreated(chain, index)) return "namespace " + object.namespace_name + " is not created yet";
  for (std::size_t i = 0; i < index; ++i) {
    const bool deletes = ActionOf(chain.changes[i]) == Action::kDelete && ObjectOf(chain, chain.changes[i]) == object;
    if (deletes) return object.Text() + " is still there";
  }
  return std::nullopt;
}

Verdict ComputeVerdict(const Chain& chain, const Change& change, const Status& answer) {
  if (answer) return Accepted();
  const Error& error = answer.error();
  switch (error.code) {
    case ErrorCode::kNotFound:
      // What was to be deleted is not there: that is as good.
      if (ActionOf(change) == Action::kDelete) return Accepted();
      // An archive whose folder can't be made.
      if (ActionOf(change) == Action::kArchive) {
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
      if (ActionOf(plan.chains[i].changes[j]) == Action::kArchive) {
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
