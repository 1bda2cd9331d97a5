// SPDX-License-Identifier: Apache-2.0
//
// What the server kept of a write. Admission policies and webhooks may change an object on its way in, so a write that
// was answered well is one that was kept as it was sent, and no other.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/objects/objects.h"
#include "core/plan/change.h"

namespace cnpa {

// Each returns the fields of ours that were kept otherwise than they were sent: from what was kept to what was sent, as
// a plan that is made from the answer would change them. Pure.

std::vector<FieldChange> AlterationsOf(const TeamSpace& kept, bool finalizer_sent);
std::vector<FieldChange> AlterationsOf(const Namespace& kept, const std::string& label, const OwnerReference& owner);
std::vector<FieldChange> AlterationsOf(const Quota& kept, const std::map<std::string, std::string>& hard);

/// The time of a transition is carried over as it is kept, so it is nothing that could be put right.
std::vector<FieldChange> AlterationsOf(const TeamSpaceStatus& kept, const TeamSpaceStatus& sent);

}  // namespace cnpa
