// SPDX-License-Identifier: Apache-2.0
//
// Recognises a fight: repairs that others undo again and again, over the passes. Its memory is a small file; where
// there is none, every repair is a first one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/log.h"
#include "app/render.h"
#include "core/fights.h"
#include "core/plan.h"

namespace cnpa {

class Contests {
 public:
  /// `folder` holds the file between passes; empty: there is none. What is wrong with it is told at debug only.
  Contests(std::string folder, const Log& log) : folder_(std::move(folder)), log_(log) {}

  /// Notes the repairs among the first `done` changes of `chain`. Returns the chain with those marked that are
  /// contested; nothing where none is. The file is read at the first repair.
  std::optional<Chain> Note(const Chain& chain, std::size_t done, Time now);

  /// Returns a line for each fight.
  std::vector<LogEntry> Lines(const Renderer& renderer) const;

  /// Keeps what was noted, if anything was.
  void Save(Time now);

  /// How many repairs were of what is contested.
  std::uint64_t repairs() const { return repairs_; }

 private:
  struct Fight {
    std::string team_space;
    Repair repair;
    Contest contest;
  };

  void Load(Time now);

  std::string folder_;
  const Log& log_;
  std::optional<FightRecord> record_;  ///< Nothing: no repair was noted yet.
  std::map<FightKey, Fight> fights_;
  std::uint64_t repairs_ = 0;
};

}  // namespace cnpa
