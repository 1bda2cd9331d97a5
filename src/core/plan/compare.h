// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/objects/object.h"
#include "core/plan/change.h"

namespace cnpa {

/// Returns each leaf in which `from` is not as `to`, with paths that begin with `path`. Lists compare in order; of
/// different lengths they are one leaf.
std::vector<FieldChange> CompareValues(const Value& from, const Value& to, const std::string& path);

/// Returns each label and each leaf of `spec` in which `observed` is not as `desired`, with who set it. Other labels do
/// not count.
std::vector<FieldChange> CompareObjects(const ObservedObject& observed, const DeclaredObject& desired);

}  // namespace cnpa
