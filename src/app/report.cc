// SPDX-License-Identifier: Apache-2.0
#include "app/report.h"

#include <algorithm>

namespace cnpa {

bool Report::lost_race() const {
  return std::any_of(chains.begin(), chains.end(),
                     [](const ChainReport& chain) { return chain.end == ChainEnd::kLostRace; });
}

void Totals::Add(const Plan& plan, const Report& report) {
  team_spaces = plan.team_spaces;
  refused = waiting = failed = left = 0;
  writes += report.writes;
  for (std::size_t i = 0; i < plan.chains.size(); ++i) {
    const Chain& chain = plan.chains[i];
    const ChainReport& done = report.chains[i];
    const bool complete = done.end == ChainEnd::kComplete;
    if (complete && chain.deleting && !chain.changes.empty()) {
      ++deleted;
    } else if (done.done > 0 && chain.turn == Turn::kNew) {
      ++created;
    } else if (done.done > 0) {
      ++changed;
    }
    if (done.refusal) {
      ++(done.refusal->waiting() ? waiting : refused);
    } else if (done.end == ChainEnd::kFailed) {
      ++failed;
    } else if (!complete) {
      ++left;
    }
  }
}

}  // namespace cnpa
