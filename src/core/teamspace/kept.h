// SPDX-License-Identifier: Apache-2.0
//
// What the server kept of a write. Admission policies and webhooks may change an object on its way in, so a write that
// was answered well is one that was kept as it was sent, and no other.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/objects/objects.h"
#include "core/plan/change.h"

namespace cnpa {

/// The object that a write was answered with; nothing where there is nothing of ours in it.
using Kept = std::variant<std::monostate, TeamSpace, Namespace, Quota>;

/// Returns each field of ours that was kept otherwise than `change` has it: from what was kept to what was sent, as a
/// plan that is made from the answer would change it. Pure.
std::vector<FieldChange> ComputeAlterations(const Chain& chain, const Change& change, const Kept& kept);

/// Returns the fields that `change` sets, also where none of them is worth a word in a plan.
std::vector<FieldChange> FieldsOf(const Change& change);

/// Returns why a write that was answered well has failed: which fields of `object`, what was sent, what is kept.
Error AlterationError(const ObjectRef& object, const std::vector<FieldChange>& altered);

}  // namespace cnpa
