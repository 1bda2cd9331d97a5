// SPDX-License-Identifier: Apache-2.0
//
// The TeamSpace CRD as an object that cnpa-op keeps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/objects/object.h"
#include "core/plan/declared.h"

namespace cnpa {

/// Returns the paths in `observed`, the spec of a CRD, that `known` does not have: versions, fields, entries of lists.
std::vector<std::string> FindUnknown(const Value& observed, const Value& known);

/// What is to be done about the CRD.
struct CrdPlan {
  std::vector<Chain> sets;           ///< At most one.
  std::vector<std::string> unknown;  ///< What this CRD has and `known` has not: then it is newer, and left alone.
};

/// Returns what makes the CRD as `known`; nothing of it is ever taken away. `observed` is empty when there is none.
/// Pure.
CrdPlan ComputeCrd(const std::optional<ObservedObject>& observed, const DeclaredObject& known, const Mark& mark);

}  // namespace cnpa
