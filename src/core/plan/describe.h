// SPDX-License-Identifier: Apache-2.0
//
// What others need to know of a change: all that is printed, counted, sent as an event or tried in a dry run reads
// this, so that a new operation is described here, encoded in kube/codec, and known nowhere else.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/objects/objects.h"
#include "core/plan/change.h"
#include "core/plan/reason.h"

namespace cnpa {

enum class Action {
  kCreate,
  kUpdate,
  kWriteStatus,  ///< Updates the subresource `status`.
  kDelete,
  kRelease,  ///< Takes our finalizer off.
  kArchive   ///< Writes a file.
};

/// Returns what machines read of an action: "create", "update", "delete", "archive".
std::string_view VerbOf(Action action);

/// Returns the symbol that a line about it begins with: + for what is new, ~ for what changes, - for what goes.
char SymbolOf(Action action);

/// What somebody did to an object that is ours.
enum class Damage {
  kChanged,   ///< Changed a field, added or removed one.
  kReleased,  ///< Took our finalizer off.
  kDeleted,   ///< Deleted the object.
  kScoped,    ///< Re-created the quota with scopes.
};

/// A change as others see it. Made on demand: it costs the plan no byte.
struct Description {
  Action action = Action::kUpdate;
  ObjectRef object;                 ///< What it is made to: of an archive, the TeamSpace that is kept in it.
  std::vector<FieldChange> fields;  ///< All that it sets, also of an object that is created.
  std::string note;                 ///< The change in words; empty: its fields say it all.

  Reason if_rejected = Reason::kWriteFailed;  ///< What it means for the team if the server rejects it for what it says.
  std::string_view advice = "the server refuses a write; a cluster admin can tell why";
  std::optional<Damage> damage;  ///< What it undoes, where the object was as it should be before; nothing: it follows.
};

/// Returns what `change` of `chain` is.
Description Describe(const Chain& chain, const Change& change);

/// Returns its action alone.
Action ActionOf(const Change& change);

/// Returns its object alone.
ObjectRef ObjectOf(const Chain& chain, const Change& change);

/// Returns whether `chain` has a change with `action`.
bool Has(const Chain& chain, Action action);

/// Returns the record that a change with Action::kArchive writes. Requires: it is one.
const WriteArchive& ArchiveOf(const Change& change);

/// Returns the name of the namespace that one of the first `count` changes of `chain` creates; nothing: none does.
std::optional<std::string> NamespaceCreated(const Chain& chain, std::size_t count);

}  // namespace cnpa
