// SPDX-License-Identifier: Apache-2.0
//
// Which changes undo what somebody else did. The others follow from a TeamSpace that is new, or whose spec is.
#pragma once

#include <string>
#include <vector>

#include "core/objects/event.h"
#include "core/plan/change.h"
#include "core/plan/describe.h"

namespace cnpa {

/// A field that is set right again, or an object that is made anew.
struct Repair {
  Damage damage = Damage::kChanged;
  ObjectRef object;
  FieldChange field;  ///< For kChanged; of kScoped the scopes.
  std::optional<Contest> contested = std::nullopt;

  /// Who did it; empty where the server does not say.
  std::string manager() const { return field.writer ? field.writer->manager : std::string(); }
  bool operator==(const Repair&) const = default;
};

/// Returns what change `index` of `chain` repairs. Nothing of a TeamSpace that was never reconciled before, nothing
/// that its own new spec asks for, and nothing of its status, which changes with either.
std::vector<Repair> RepairsOf(const Chain& chain, std::size_t index);

}  // namespace cnpa
