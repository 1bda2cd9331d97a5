// SPDX-License-Identifier: Apache-2.0
#include "app/pass/events.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "app/render/repair_words.h"
#include "app/stages/archive.h"
#include "base/masked.h"
#include "base/text.h"
#include "core/plan/describe.h"
#include "core/plan/repair.h"

namespace cnpa {
namespace {

Event EventOn(const Chain& chain, std::string note) {
  Event event{.team_space = chain.name, .uid = chain.uid};
  event.note = Shortened(std::move(note), kLongestNote - kDots.size());
  return event;
}

/// Returns "ResourceQuota team-red/team-quota", as kubectl names what is in a namespace.
std::string Name(const ObjectRef& object) {
  return fmt::format("{} {}{}", object.kind, object.namespace_name.empty() ? "" : object.namespace_name + "/",
                     object.name);
}

Event RepairEvent(const Chain& chain, const Repair& repair) {
  Event event = repair.contested ? EventOn(chain, fmt::format("{}; {}", FightWords(repair), kEndFight))
                                 : EventOn(chain, Name(repair.object) + ": " + RepairWords(repair));
  event.warning = repair.contested.has_value();
  event.reason = repair.contested ? kContested : "Repaired";
  event.action = "Repair";
  if (repair.object.kind != kTeamSpaceKind) event.related = repair.object;
  // Not the value that was found: who writes another one each time is still one event. What it should be is of the
  // spec.
  event.identity = fmt::format("{} {} {} {} {}", static_cast<int>(repair.damage), repair.object.Text(),
                               repair.field.path, repair.field.to.value_or(""), repair.manager());
  return event;
}

Event RefusalEvent(const Chain& chain, const Refusal& refusal) {
  Event event = EventOn(chain, refusal.message);
  event.warning = !refusal.waiting();
  event.reason = ReasonName(refusal.reason);
  event.action = "Refuse";
  event.identity = Masked(refusal.message);
  return event;
}

Event ArchiveEvent(const Chain& chain) {
  Event event = EventOn(
      chain, fmt::format("archived as {}, finalizer {} removed", ArchiveFileName(chain.name, chain.uid), kFinalizer));
  event.reason = "Archived";
  event.action = "Archive";
  return event;
}

/// Returns whether `report` wrote why the TeamSpace is not ready.
bool ToldRefusal(const Chain& chain, const ChainReport& report) {
  if (report.told) return true;
  return std::any_of(chain.changes.begin(), chain.changes.begin() + static_cast<std::ptrdiff_t>(report.done),
                     [](const Change& change) { return ActionOf(change) == Action::kWriteStatus; });
}

}  // namespace

std::vector<Event> EventsOf(const Chain& chain, const ChainReport& report) {
  std::vector<Event> events;
  if (chain.subject) return events;  // Events are about TeamSpaces.
  for (std::size_t i = 0; i < report.done; ++i) {
    for (const Repair& repair : RepairsOf(chain, i)) events.push_back(RepairEvent(chain, repair));
    if (ActionOf(chain.changes[i]) == Action::kRelease) events.push_back(ArchiveEvent(chain));
  }
  if (report.refusal && ToldRefusal(chain, report)) events.push_back(RefusalEvent(chain, *report.refusal));
  return events;
}

}  // namespace cnpa
