// SPDX-License-Identifier: Apache-2.0
//
// What a pass could not do, collected while it works, so that a thousand of one kind are few lines.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/output/log.h"
#include "app/render/render.h"
#include "app/stages/report.h"
#include "core/plan/change.h"

namespace cnpa {

class Complaints {
 public:
  /// Takes what `report` says of `chain`, if it is a refusal or a failure. With `quiet_races` a race that was lost is
  /// neither: what is lost in every pass is a refusal.
  void Add(const Chain& chain, const ChainReport& report, const Renderer& renderer, bool quiet_races = true);
  void Add(LogEntry entry);

  /// Writes each on a line of its own, for the loop, which knows which of them are new and which are over.
  void TellEach(const Log& log) const;

  /// Writes them for one pass that is looked at: of those that are refused for the same reason the first one, and one
  /// line for the rest; of very many the first, and how many there are more.
  void TellAlike(const Log& log, const Renderer& renderer) const;

 private:
  struct Complaint {
    LogEntry entry;
    std::optional<Reason> reason;  ///< Of a refusal that is of its team space alone.
  };

  void AddRefusal(const Chain& chain, const Refusal& refusal, const Renderer& renderer);
  std::vector<std::string> OthersOf(const Complaint& complaint) const;

  std::vector<Complaint> complaints_;
  std::set<std::string> said_;
};

}  // namespace cnpa
