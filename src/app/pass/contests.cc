// SPDX-License-Identifier: Apache-2.0
#include "app/pass/contests.h"

#include <algorithm>

#include <fmt/core.h>

#include "app/render/repair_words.h"

namespace cnpa {
namespace {

void Mark(Change& change, const Repair& repair, const Contest& contest) {
  if (repair.damage != Damage::kChanged) {
    change.contested = contest;
    return;
  }
  const auto field = std::find(change.fields.begin(), change.fields.end(), repair.field);
  if (field != change.fields.end()) field->contested = contest;
}

}  // namespace

std::optional<Chain> Contests::Note(const Chain& chain, std::size_t done, Time now) {
  std::optional<Chain> marked;
  for (std::size_t i = 0; i < done; ++i) {
    for (const Repair& repair : RepairsOf(chain, i)) {
      const FightKey key = FightKeyOf(chain.uid, repair);
      const std::optional<Contest> contest = memory_.repairs(now).Note(key, now);
      if (!contest) continue;
      ++repairs_;
      fights_.insert_or_assign(key, Fight{SubjectOf(chain).Text(), chain.subject ? "" : chain.name, repair, *contest});
      if (!marked) marked = chain;
      Mark(marked->changes[i], repair, *contest);
    }
  }
  return marked;
}

std::vector<LogEntry> Contests::Lines(const Renderer& renderer) const {
  std::vector<LogEntry> lines;
  lines.reserve(fights_.size());
  for (const auto& [key, fight] : fights_) {
    const std::string words = FightWords(fight.repair);
    // Only digits differ from pass to pass, so that the loop tells it once.
    const std::string often = fmt::format("{} times since {}", fight.contest.count, FormatTime(fight.contest.since));
    lines.push_back({.level = LogLevel::kWarn,
                     .text = renderer.FightLine(fight.subject, fmt::format("{} ({}); {}", words, often, kEndFight)),
                     .trouble = fmt::format("{}: Contested: {}", fight.subject, words),
                     .fields = {.team_space = fight.team_space,
                                .object = fight.repair.object.Text(),
                                .reason = std::string(kContested)},
                     .lasts = kFightWindow});
  }
  return lines;
}

}  // namespace cnpa
