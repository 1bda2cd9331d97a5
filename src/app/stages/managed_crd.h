// SPDX-License-Identifier: Apache-2.0
//
// The CRD under --manage-crd: what is there, what the program knows, and what a pass makes of it.
#pragma once

#include "base/result.h"
#include "core/objects/object.h"
#include "core/plan/change.h"
#include "core/teamspace/crd.h"
#include "kube/api/client.h"

namespace cnpa {

/// Returns the CRD that this program knows: that of `cnpa-op crd`.
DeclaredObject KnownCrd();

/// Reads the CRD and compares it.
///
/// Errors:  of the request that failed; kMalformed.
Result<CrdPlan> PlanCrd(Client& client, const Mark& mark);

}  // namespace cnpa
