// SPDX-License-Identifier: Apache-2.0
//
// Objects that should be there as they are written, whatever their kind: compared by `spec` and our labels, created,
// repaired, removed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/objects/object.h"
#include "core/plan/change.h"

namespace cnpa {

/// Whose objects are ours: two installations of cnpa-op in one cluster never touch each other's.
struct Mark {
  std::string installation = "default";

  /// Returns the labels that every object of ours has.
  Labels labels() const;

  /// Returns whether an object with `labels` is ours.
  bool IsOn(const Labels& labels) const;
};

inline constexpr const char* kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr const char* kInstallationLabel = "platform.labhub.io/installation";

/// Returns what makes `observed` as `desired` says, a set for each object that has something to do, in the order of
/// `desired`; then what removes those that bear `mark` and are not desired. An object of that name that another
/// installation marks is left alone and refused. What is being deleted waits. Pure.
///
/// Requires: what the server would fill in is part of `desired`, so that what is kept is what was sent.
std::vector<Chain> ComputeDeclared(std::span<const ObservedObject> observed, std::span<const DeclaredObject> desired,
                                   const Mark& mark);

}  // namespace cnpa
