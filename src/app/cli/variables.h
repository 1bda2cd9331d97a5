// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cnpa {

/// Looks through an environment ("NAME=value") for variables that are called as ours and would be ignored. Returns a
/// warning for each that no flag has.
///
/// Errors:  kInvalid for one that is there and empty: it would mean all, or another cluster than was meant.
Result<std::vector<std::string>> CheckVariables(const std::vector<std::string>& list);

}  // namespace cnpa
