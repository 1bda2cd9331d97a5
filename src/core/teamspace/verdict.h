// SPDX-License-Identifier: Apache-2.0
//
// What the server thinks of a change that is not made: the words for `--diff --server`. Each change is tried for
// itself, on the cluster as it is, so what stands on a change that is not made yet can't be tried.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/plan/change.h"

namespace cnpa {

enum class Answer {
  kAccepted,
  kRefused,    ///< It would be refused if it were made now.
  kOutdated,   ///< The object is not any more what the plan was made from: another plan would not hold this change.
  kNotChecked  ///< Nobody can say.
};

/// Returns the answer as JSON has it: "notChecked".
std::string_view AnswerName(Answer answer);

struct Verdict {
  Answer answer = Answer::kNotChecked;
  std::optional<Reason> reason;  ///< Of kRefused: what `Ready` would say.
  std::string message;           ///< Why; empty when accepted.

  bool operator==(const Verdict&) const = default;
};

/// Of each chain of a plan, in its order, a verdict for each of its changes.
using Verdicts = std::vector<std::vector<Verdict>>;

/// Returns why the server can't be asked about change `index` of `chain`: what it stands on is not there yet, or what
/// goes before it is still there. Nothing when it can. Pure.
std::optional<std::string> ComputeObstacle(const Chain& chain, std::size_t index);

/// Returns what the answer to a dry run of `change`, or the look at where a file would go, says of it. Pure.
Verdict ComputeVerdict(const Chain& chain, const Change& change, const Status& answer);

/// How many writes to the server got which answer; archives, which are files, are not among them.
struct VerdictCounts {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t outdated = 0;
  std::uint64_t not_checked = 0;
  bool archive_refused = false;  ///< An archive could not be written.
};

/// Requires: `verdicts` are those of `plan`.
VerdictCounts CountVerdicts(const Plan& plan, const Verdicts& verdicts);

}  // namespace cnpa
