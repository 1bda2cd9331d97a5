// SPDX-License-Identifier: Apache-2.0
//
// Who undoes what we repair, again and again. A pass has no memory; what it needs of one is this record, which whoever
// runs passes keeps for them, and may lose.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/time.h"
#include "core/plan/change.h"
#include "core/plan/repair.h"

namespace cnpa {

/// Repairs of one field, or one object, that follow each other within so long belong together.
inline constexpr std::chrono::minutes kFightWindow{10};

/// So many of them are a fight: a hand slips twice.
inline constexpr std::uint64_t kRepairsOfFight = 3;

/// What is fought for, and with whom.
struct FightKey {
  std::string uid;      ///< Of the TeamSpace.
  std::string object;   ///< "ResourceQuota/team-red/team-quota".
  std::string subject;  ///< The field's path; for what has none the damage in a word: "deleted".
  std::string manager;  ///< Empty where the server does not say.

  bool operator==(const FightKey&) const = default;
  bool operator<(const FightKey& other) const {
    return std::tie(uid, object, subject, manager) < std::tie(other.uid, other.object, other.subject, other.manager);
  }
};

struct Repairs {
  std::uint64_t count = 0;
  Time first{};
  Time last{};

  bool operator==(const Repairs&) const = default;
};

/// The repairs of the last minutes. Bounded, whatever happens in a cluster.
class FightRecord {
 public:
  static constexpr std::size_t kMostEntries = 1000;

  /// Notes a repair. Returns how often it was made, if that makes it a fight.
  std::optional<Contest> Note(const FightKey& key, Time now);

  /// Drops what is over at `now`, and what bears a time that is still to come.
  void Expire(Time now);

  /// Puts an entry in, as it was read; beyond kMostEntries it is left out.
  void Put(FightKey key, const Repairs& repairs);

  const std::map<FightKey, Repairs>& entries() const { return entries_; }
  bool operator==(const FightRecord&) const = default;

 private:
  std::map<FightKey, Repairs> entries_;
};

/// Returns what `repair`, of a TeamSpace with that uid, is noted under.
FightKey FightKeyOf(const std::string& uid, const Repair& repair);

}  // namespace cnpa
