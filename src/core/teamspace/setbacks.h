// SPDX-License-Identifier: Apache-2.0
//
// What kept TeamSpaces from their desired state in the passes before: so that who failed last goes last, a race that
// is lost again and again is called something else, and what the server changes each time is not sent each time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/plan/change.h"

namespace cnpa {

/// What one TeamSpace failed by, in each pass since `first` that tried it.
struct Setback {
  std::string words;                 ///< The failure's, as Masked() has them, at most kLongestSetback.
  std::vector<std::string> altered;  ///< What the server changed of what was sent, as AlterationKeys() has it.
  std::uint64_t count = 0;           ///< Passes.
  Time first{};
  Time last{};

  bool operator==(const Setback&) const = default;
};

inline constexpr std::size_t kLongestSetback = 400;

/// A setback that does not come back for so long is over.
inline constexpr std::chrono::hours kSetbackWindow{1};

/// A race that is lost in the same words in so many passes in a row is none.
inline constexpr std::uint64_t kPassesOfLostRace = 3;

/// The setbacks by the uid of their TeamSpace. Bounded, whatever happens in a cluster.
class SetbackRecord {
 public:
  static constexpr std::size_t kMostEntries = 10'000;

  /// Notes that TeamSpace `uid` failed in a pass. Beyond kMostEntries a new one is left out.
  void Note(const std::string& uid, const Error& error, std::vector<std::string> altered, Time now);

  /// Notes that it did not.
  void Clear(const std::string& uid) { entries_.erase(uid); }

  /// Drops what is over at `now`, and what bears a time that is still to come.
  void Expire(Time now);

  /// Drops all but those of the chains of `plan`, and `others`: what has nothing to do has no setback.
  void KeepThoseOf(const Plan& plan, const std::vector<std::string>& others = {});

  /// Puts an entry in, as it was read; beyond kMostEntries it is left out.
  void Put(std::string uid, Setback setback);

  /// Returns the setback of a TeamSpace; null: it has none.
  const Setback* Find(const std::string& uid) const;

  const std::map<std::string, Setback>& entries() const { return entries_; }
  bool operator==(const SetbackRecord&) const = default;

 private:
  std::map<std::string, Setback> entries_;
};

/// Returns a text for each field: whose it is, what is kept, what is sent.
std::vector<std::string> AlterationKeys(const ObjectRef& object, const std::vector<FieldChange>& altered);

/// Returns the indices of the chains of `plan` in the order in which they are begun: who failed last goes last, the
/// others go in the order of the plan.
std::vector<std::size_t> ComputeBeginOrder(const Plan& plan, const SetbackRecord& setbacks);

/// The same where nobody knows who failed: from another one on in each pass, so that each has its turn.
std::vector<std::size_t> ComputeRotatedOrder(const Plan& plan);

/// Takes out of `plan` what the server would change again, as it did last time, until it is time to try once more; such
/// a chain is refused. Returns the uids of the TeamSpaces concerned.
std::vector<std::string> HoldBack(const SetbackRecord& setbacks, Plan& plan);

/// Returns the refusal that `error`, a lost race of a chain with `setback`, is when it was lost so in the passes
/// before.
std::optional<Refusal> ClassifyLostRace(const Setback* setback, const Error& error);

}  // namespace cnpa
