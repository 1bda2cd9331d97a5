// SPDX-License-Identifier: Apache-2.0
#include "app/stages/report.h"

#include <algorithm>

#include "core/plan/describe.h"

namespace cnpa {

bool ChainReport::Made(const Chain& chain, std::size_t i) const {
  const bool is_archive = ActionOf(chain.changes[i]) == Action::kArchive;
  return i < done && !(is_archive && archive_was_there);
}

bool Report::lost_race() const {
  return std::any_of(chains.begin(), chains.end(),
                     [](const ChainReport& chain) { return chain.end == ChainEnd::kLostRace; });
}

PlanCounts CountPlan(const Plan& plan) {
  PlanCounts counts;
  for (const Chain& chain : plan.chains) {
    if (chain.refusal) ++(chain.refusal->waiting() ? counts.waiting : counts.refused);
    for (const Change& change : chain.changes) {
      switch (ActionOf(change)) {
        case Action::kCreate: ++counts.created; break;
        case Action::kUpdate:
        case Action::kWriteStatus:
        case Action::kDelete: ++counts.changed; break;
        case Action::kRelease: ++counts.released; break;
        case Action::kArchive: break;
      }
    }
  }
  return counts;
}

std::size_t& Totals::CountOf(const Chain& chain, const ChainReport& report) {
  if (report.refusal) return report.refusal->waiting() ? waiting : refused;
  if (report.end == ChainEnd::kFailed) return failed;
  if (report.end != ChainEnd::kComplete) return left;
  // One of which others hold the rest may have a status to be cleared.
  if (chain.deleting) return Has(chain, Action::kRelease) ? deleted : changed;
  return chain.turn == Turn::kNew ? created : changed;
}

void Totals::Add(const Plan& plan, const Report& report) {
  team_spaces = plan.team_spaces;
  refused = waiting = failed = left = 0;
  writes += report.writes;
  for (std::size_t i = 0; i < plan.chains.size(); ++i) {
    const Chain& chain = plan.chains[i];
    ++CountOf(chain, report.chains[i]);
  }
}

void Totals::AddObjects(const Plan& plan, const Report& report) {
  writes += report.writes;
  for (std::size_t i = 0; i < plan.chains.size(); ++i) {
    const ChainReport& done = report.chains[i];
    const bool complete = done.end == ChainEnd::kComplete && !done.refusal;
    complete ? ++objects_changed : ++objects_off;
  }
}

}  // namespace cnpa
