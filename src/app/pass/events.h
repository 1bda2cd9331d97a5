// SPDX-License-Identifier: Apache-2.0
//
// What of a pass is told as events: repairs, refusals, archives. Pure.
#pragma once

#include <vector>

#include "app/stages/report.h"
#include "core/objects/event.h"
#include "core/plan/change.h"

namespace cnpa {

/// Returns the events for what was done of `chain`: only for what was written just now, so that a pass that writes
/// nothing has none, and a refusal that lasts has one. What is contested is told as such in place of its repair. A
/// TeamSpace that is new has none either, unless it is refused.
std::vector<Event> EventsOf(const Chain& chain, const ChainReport& report);

}  // namespace cnpa
