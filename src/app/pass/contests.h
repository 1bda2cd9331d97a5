// SPDX-License-Identifier: Apache-2.0
//
// Recognises a fight: repairs that others undo again and again, over the passes. Without a memory every repair is a
// first one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/output/log.h"
#include "app/pass/memory.h"
#include "app/render/render.h"
#include "core/plan/change.h"
#include "core/plan/fights.h"

namespace cnpa {

class Contests {
 public:
  explicit Contests(Memory& memory) : memory_(memory) {}

  /// Notes the repairs among the first `done` changes of `chain`. Returns the chain with those marked that are
  /// contested; nothing where none is.
  std::optional<Chain> Note(const Chain& chain, std::size_t done, Time now);

  /// Returns a line for each fight.
  std::vector<LogEntry> Lines(const Renderer& renderer) const;

  /// How many repairs were of what is contested.
  std::uint64_t repairs() const { return repairs_; }

 private:
  struct Fight {
    std::string subject;     ///< "TeamSpace/red".
    std::string team_space;  ///< Its name; empty: it is about something else.
    Repair repair;
    Contest contest;
  };

  Memory& memory_;
  std::map<FightKey, Fight> fights_;
  std::uint64_t repairs_ = 0;
};

}  // namespace cnpa
