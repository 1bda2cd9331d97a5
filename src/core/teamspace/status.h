// SPDX-License-Identifier: Apache-2.0
//
// The status that a TeamSpace should have. Nothing in it changes with time alone.
#pragma once

#include <optional>

#include "core/objects/objects.h"
#include "core/plan/change.h"
#include "core/plan/reason.h"

namespace cnpa {

/// Returns the status of a TeamSpace whose namespace and quota are as `generation` asks.
TeamSpaceStatus ReconciledStatus(const TeamSpaceStatus& observed, const std::string& name, std::int64_t generation,
                                 Time now);

/// Returns the status of a TeamSpace that is refused: `Ready` says why, observedGeneration stays where it
/// was, and the namespace is named only while it is ours.
TeamSpaceStatus RefusedStatus(const TeamSpaceStatus& observed, const Refusal& refusal, std::int64_t generation,
                              std::optional<std::string> namespace_name, Time now);

/// Returns the write that turns `observed` into `desired`, or nothing when they are equal. `awaits_uid` says that the
/// chain creates the namespace in front of it, so that its uid is still to come.
std::optional<Change> StatusChange(const TeamSpaceStatus& observed, const TeamSpaceStatus& desired,
                                   bool awaits_uid = false);

/// Returns `change` with the uid of the namespace that its chain has created where it awaits that; else as it is.
Change WithNamespaceUid(Change change, const Boxed<std::string>& created_uid);

}  // namespace cnpa
