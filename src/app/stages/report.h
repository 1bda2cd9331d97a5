// SPDX-License-Identifier: Apache-2.0
//
// What a pass did: the counterpart of a plan, chain by chain.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "core/plan/change.h"

namespace cnpa {

/// How a chain ended.
enum class ChainEnd {
  kComplete,  ///< All its changes are made. (It may be refused all the same: see Chain::refusal.)
  kLostRace,  ///< Somebody else wrote first: the next pass sees what.
  kLeft,      ///< Not begun, or cut short, because the pass was told to end or its time was over.
  kFailed,    ///< A change was refused or got no answer.
};

struct ChainReport {
  std::size_t done = 0;  ///< How many changes were made, from the front.
  ChainEnd end = ChainEnd::kLeft;
  Error error;                       ///< For kFailed and kLostRace: of change `done`.
  std::vector<FieldChange> altered;  ///< For kFailed: what the server changed of what was sent.
  std::optional<Refusal> refusal;    ///< The plan's, or what the failure means for the team.
  bool told = false;                 ///< The status was written anew, since the failure is a refusal.
  bool archive_was_there = false;    ///< Then the archive is done, and nothing was written.

  /// Returns whether change `i` of `chain` was made: it is done, and was not found to be done before.
  bool Made(const Chain& chain, std::size_t i) const;
};

struct Report {
  std::vector<ChainReport> chains;  ///< As many, and in the same order, as in the plan.
  std::uint64_t writes = 0;         ///< That the server took, or may have taken.

  bool lost_race() const;
};

/// What a plan comes to, in objects.
struct PlanCounts {
  std::uint64_t created = 0;
  std::uint64_t changed = 0;
  std::uint64_t released = 0;  ///< Finalizers taken off; the archive that goes before is not counted.
  std::uint64_t refused = 0;
  std::uint64_t waiting = 0;
};

PlanCounts CountPlan(const Plan& plan);

/// What is told in the last line, added up over the passes of a run.
struct Totals {
  std::size_t team_spaces = 0;  ///< In the last pass.
  std::size_t created = 0;
  std::size_t changed = 0;
  std::size_t deleted = 0;
  std::size_t refused = 0;  ///< In the last pass, like the following.
  std::size_t waiting = 0;
  std::size_t failed = 0;
  std::size_t left = 0;
  std::uint64_t writes = 0;
  std::size_t objects_changed = 0;  ///< Declared objects, such as the CRD, that were created, repaired or removed.
  std::size_t objects_off = 0;      ///< Those that are not as they should be. In the last pass.

  /// Adds what was done about declared objects.
  void AddObjects(const Plan& plan, const Report& report);

  /// Adds what one pass did.
  void Add(const Plan& plan, const Report& report);

  /// Returns the one count that a chain falls under.
  std::size_t& CountOf(const Chain& chain, const ChainReport& report);

  /// Returns whether every team space and declared object is as it should be.
  bool converged() const { return refused + waiting + failed + left + objects_off == 0; }

  /// Returns whether something in the cluster, or in the archive, is other than before.
  bool changed_something() const { return created + changed + deleted + objects_changed > 0; }
};

}  // namespace cnpa
