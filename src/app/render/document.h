// SPDX-License-Identifier: Apache-2.0
//
// A plan, or what a pass made of it, as a JSON document for machines: `-o json`. docs/pass.schema.json describes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/stages/report.h"
#include "core/plan/change.h"
#include "core/teamspace/verdict.h"

namespace cnpa {

/// Collects what is known and becomes one document, whatever happened.
class PassDocument {
 public:
  enum class Kind {
    kPlan,    ///< Of --diff: what would be done.
    kReport,  ///< Of --once: what was done.
  };

  PassDocument(Kind kind, std::string archive_folder) : kind_(kind), archive_folder_(std::move(archive_folder)) {}

  /// Adds what a plan holds: all of it is still to be done. With `verdicts`, also what the server says to it.
  void AddPlan(const Plan& plan, const Verdicts* verdicts = nullptr);

  /// Adds what was done of a chain.
  void AddChanges(const Chain& chain, const ChainReport& report);

  /// Sets what could not be done; of more than one pass in a run the last one counts, which has looked at all again.
  void SetProblems(const Plan& plan, const Report& report);

  /// Sets the sum of a run.
  void SetTotals(const Totals& totals, std::chrono::milliseconds took);

  /// The cluster could not be read, or what was asked for makes no sense.
  void SetError(std::string message) { error_ = std::move(message); }

  /// Returns the document.
  std::string Text() const;

 private:
  struct Problem {
    ObjectRef subject;
    std::optional<Refusal> refusal;  ///< Nothing: a request failed.
    std::string message;
  };

  void AddChange(const Chain& chain, const Change& change, const Verdict* verdict = nullptr);
  void AddProblem(const Chain& chain, const ChainReport& report);

  Kind kind_;
  std::string archive_folder_;
  Time observed_at_{};
  std::vector<std::string> changes_;  ///< JSON, an object each.
  std::vector<Problem> problems_;
  std::vector<std::pair<const char*, std::uint64_t>> summary_;
  std::string error_;
};

/// The version of the documents: a reader of one understands each later one of the same number.
inline constexpr int kPassDocumentVersion = 2;

}  // namespace cnpa
