// SPDX-License-Identifier: Apache-2.0
#include "core/plan/fights.h"

#include <algorithm>
#include <utility>

#include "core/plan/recent.h"

namespace cnpa {
namespace {

std::string SubjectOf(const Repair& repair) {
  switch (repair.damage) {
    case Damage::kChanged: return repair.field.path;
    case Damage::kReleased: return "metadata.finalizers";
    case Damage::kDeleted: return "deleted";
    case Damage::kScoped: return "scoped";
  }
  return {};
}

}  // namespace

std::optional<Contest> FightRecord::Note(const FightKey& key, Time now) {
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    MakeRoom(entries_, kMostEntries);
    found = entries_.emplace(key, Repairs{.count = 0, .first = now, .last = now}).first;
  }
  Repairs& repairs = found->second;
  if (IsOver(repairs, now, kFightWindow)) repairs = {.count = 0, .first = now, .last = now};
  ++repairs.count;
  repairs.first = std::min(repairs.first, now);
  repairs.last = now;
  if (repairs.count < kRepairsOfFight) return std::nullopt;
  return Contest{.count = repairs.count, .since = repairs.first};
}

void FightRecord::Expire(Time now) {
  std::erase_if(entries_, [now](const auto& entry) { return IsOver(entry.second, now, kFightWindow); });
}

void FightRecord::Put(FightKey key, const Repairs& repairs) {
  if (entries_.size() < kMostEntries) entries_.emplace(std::move(key), repairs);
}

FightKey FightKeyOf(const std::string& uid, const Repair& repair) {
  return {uid, repair.object.Text(), SubjectOf(repair), repair.manager()};
}

}  // namespace cnpa
