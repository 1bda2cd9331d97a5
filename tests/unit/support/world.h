// SPDX-License-Identifier: Apache-2.0
//
// A cluster as core values, and what an API server would make of each change of a plan: the guards included.
// It shares no code with the plan or the codec, so that each checks the other.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "core/plan/change.h"
#include "support/random.h"

namespace cnpa {

struct World {
  Observation cluster;
  std::map<std::string, WriteArchive> archives;  ///< By uid.
};

/// Makes one change of `chain`.
///
/// Errors:  kConflict when a guard does not hold, kNotFound, kTerminating.
Status Perform(World& world, const Chain& chain, const Change& change);

/// Makes all changes of all chains of a plan; a chain ends at its first failure, which is returned.
Status Perform(World& world, const Plan& plan);

/// Does what the garbage collector and the namespace controller do in time: namespaces whose owners are all
/// gone go, Terminating ones are gone, with their quotas.
void CollectGarbage(World& world);

/// Returns a small cluster in any state that a pass may meet.
World RandomWorld(Random& random);

}  // namespace cnpa
