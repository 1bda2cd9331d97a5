// SPDX-License-Identifier: Apache-2.0
//
// What the failure of a change means for the team that waits for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/plan/change.h"
#include "core/plan/reason.h"

namespace cnpa {

/// Returns that a namespace of ours has to end before it can be created again.
Refusal NamespaceTerminating(const std::string& name);

/// Returns what the failure of a change means for the team, or nothing for a lost race, a server that is
/// away, or a pass that was stopped: those are the next pass's work and no state of the TeamSpace.
std::optional<Refusal> ClassifyFailure(const Chain& chain, const Change& failed, const Error& error);

/// Returns why a write that was answered well has failed: which fields of `object`, what was sent, what is kept.
Error AlterationError(const ObjectRef& object, const std::vector<FieldChange>& altered);

}  // namespace cnpa
