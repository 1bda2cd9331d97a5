// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "core/objects.h"
#include "kube/client.h"

namespace cnpa {

/// Reads all that a pass needs to know, side by side, as of `now`. All or nothing: a partial read is never a plan.
///
/// Errors:  of the first list that failed, in words for the user.
Result<Observation> Observe(Client& client, Time now);

}  // namespace cnpa
