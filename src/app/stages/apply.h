// SPDX-License-Identifier: Apache-2.0
//
// Performs a plan and decides nothing: chains side by side, the changes of one chain in order, a failed
// change ends its own chain only.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "app/stages/archive.h"
#include "app/stages/report.h"
#include "core/plan/change.h"
#include "core/teamspace/setbacks.h"
#include "kube/api/client.h"

namespace cnpa {

/// Is told of each chain that has ended, in the order of the plan.
using OnChain = std::function<void(const Chain&, const ChainReport&)>;

/// What the passes before leave to this one.
struct Legacy {
  std::vector<std::size_t> order;           ///< The indices of the chains as they are to begin; empty: as in the plan.
  const SetbackRecord* setbacks = nullptr;  ///< Null: nobody knows.
};

/// Performs `plan` with at most `concurrency` chains at work, each with one request in flight.
Report Apply(const Plan& plan, Client& client, Archive& archive, std::size_t concurrency, const OnChain& on_chain,
             const Legacy& legacy = {});

}  // namespace cnpa
