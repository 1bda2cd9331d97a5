// SPDX-License-Identifier: Apache-2.0
//
// --only: some team spaces alone.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/objects/objects.h"
#include "core/plan/change.h"

namespace cnpa {

/// Returns those of `only` that no team space is called, each with what is to be said of it.
std::map<std::string, std::string> FindMissing(const Observation& observation, const std::vector<std::string>& only);

/// Keeps only the sets of changes of the team spaces in `only`, `missing` of which are not there. Empty: all.
void RestrictTo(const std::vector<std::string>& only, std::size_t missing, Plan& plan);

}  // namespace cnpa
