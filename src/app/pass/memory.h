// SPDX-License-Identifier: Apache-2.0
//
// What a run of passes remembers of those before it, read when it is first asked for and written at the end, if it has
// changed.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/output/log.h"
#include "app/pass/memory_file.h"
#include "app/stages/report.h"
#include "base/time.h"

namespace cnpa {

/// What a pass did not do, for there was reason not to.
struct PassScope {
  std::vector<std::string> held;         ///< The uids of the TeamSpaces that HoldBack() kept from trying.
  std::vector<std::string> others = {};  ///< Uids of what else has setbacks.
  bool of_all = true;                    ///< Else only some TeamSpaces were looked at.
};

class Memory {
 public:
  /// `folder` holds the file between passes; empty: there is none. What is wrong with it is logged at debug only.
  Memory(std::string folder, const Log& log) : folder_(std::move(folder)), log_(log) {}

  FightRecord& repairs(Time now) { return At(now).repairs; }
  SetbackRecord& setbacks(Time now) { return At(now).setbacks; }

  /// Returns whether there is a place for it.
  bool lasts() const { return !folder_.empty(); }

  /// Notes which TeamSpaces failed in a pass, and which did not any more.
  void Note(const Plan& plan, const Report& report, const PassScope& scope);

  /// Keeps what was noted, if anything was.
  void Save(Time now);

 private:
  PassMemory& At(Time now);

  std::string folder_;
  const Log& log_;
  PassMemory kept_;                   ///< As the file has it.
  std::optional<PassMemory> memory_;  ///< Nothing: it was not asked for yet.
};

}  // namespace cnpa
