// SPDX-License-Identifier: Apache-2.0
//
// The counterpart of apply: asks the server about every change of a plan and makes none. Each is asked about for
// itself, so that all that would be refused shows, and not only what comes first.
#pragma once

#include <cstddef>

#include "app/stages/archive.h"
#include "core/plan/change.h"
#include "core/teamspace/verdict.h"
#include "kube/api/client.h"

namespace cnpa {

/// Returns what the server says to `plan`, with at most `concurrency` requests in flight. Of archives only the folder
/// is looked at.
///
/// Requires: `client` makes dry runs.
Verdicts Rehearse(const Plan& plan, Client& client, Archive& archive, std::size_t concurrency);

}  // namespace cnpa
