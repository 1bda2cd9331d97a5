// SPDX-License-Identifier: Apache-2.0
//
// The words for one field that differs.
#pragma once

#include <optional>
#include <string>

#include "app/output/layout.h"
#include "core/plan/change.h"

namespace cnpa {

/// Returns a value for people: "none" where there is none, the beginning of one that is very long.
std::string ValueWords(const std::optional<std::string>& value);

/// Returns "pods 99 -> 6", with what is and what should be each in its colour.
Pieces DifferenceOf(const FieldChange& field);

/// The same without colours.
std::string Difference(const FieldChange& field);

}  // namespace cnpa
