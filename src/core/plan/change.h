// SPDX-License-Identifier: Apache-2.0
//
// The plan is a plain value: per TeamSpace one chain of changes, in the order in which they must happen.
// Chains are independent of each other. Applying, printing and testing all look at this value and at nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/boxed.h"
#include "core/objects/object.h"
#include "core/objects/objects.h"
#include "core/plan/reason.h"

namespace cnpa {

/// What makes a namespace that of a TeamSpace.
enum class Claim : std::uint8_t {
  kNone,   ///< Nothing: it is somebody else's.
  kOwner,  ///< An ownerReference has the TeamSpace's uid.
  kLabel,  ///< Our label names the TeamSpace: an admin's word, or what is left of a removed ownerReference.
  kUid     ///< It is the namespace that `status.namespaceUID` remembers, whatever was removed from it since.
};

struct AddFinalizer {
  std::vector<std::string> observed;  ///< The list that the patch expects to find.
  bool operator==(const AddFinalizer&) const = default;
};

struct RemoveFinalizer {
  std::vector<std::size_t> places;  ///< Where the patch expects to find ours, last first: the server admits it twice.
  bool operator==(const RemoveFinalizer&) const = default;
};

struct CreateNamespace {
  std::string name;
  OwnerReference owner;
  bool operator==(const CreateNamespace&) const = default;
};

/// How our ownerReference gets onto a namespace without touching another's.
enum class OwnerRepair {
  kNone,        ///< It is there.
  kCreateList,  ///< There is no list: make one.
  kAppend,      ///< Others are there: add ours behind them.
  kReplace,     ///< A reference to an earlier TeamSpace of this name, or ours with a wrong field, stands at
                ///< `index`.
};

struct RepairNamespace {
  std::string name;
  std::string uid;
  Claim claim = Claim::kOwner;  ///< What makes it ours, and the patch expects to be so still.
  bool set_label = false;
  OwnerRepair owner_repair = OwnerRepair::kNone;
  std::size_t index = 0;     ///< Of the reference that the patch expects: for kReplace the old one, for kNone ours.
  std::string expected_uid;  ///< The uid of that reference.
  OwnerReference owner;
  bool operator==(const RepairNamespace&) const = default;
};

struct CreateQuota {
  std::string namespace_name;
  std::map<std::string, std::string> hard;
  bool operator==(const CreateQuota&) const = default;
};

struct RepairQuota {
  std::string namespace_name;
  std::string uid;
  std::map<std::string, std::string> observed;  ///< What the patch expects to find, verbatim.
  std::map<std::string, std::string> hard;
  bool operator==(const RepairQuota&) const = default;
};

struct DeleteQuota {
  std::string namespace_name;
  std::string uid;
  bool operator==(const DeleteQuota&) const = default;
};

struct WriteStatus {
  TeamSpaceStatus observed;  ///< What the patch expects to find.
  TeamSpaceStatus desired;
  bool awaits_uid =
      false;  ///< `desired` wants the uid of the namespace that the chain creates: see WithNamespaceUid().
  bool operator==(const WriteStatus&) const = default;
};

/// What is kept of a TeamSpace that is being deleted.
struct WriteArchive {
  std::string name;
  std::string uid;
  std::optional<std::int64_t> pods;
  std::string cpu;
  std::int64_t generation = 0;
  std::string deleted_at;
  std::string archived_at;
  Boxed<ArchivedTexts> texts;
  bool operator==(const WriteArchive&) const = default;
};

/// Objects of any kind: see core/plan/declared.
struct CreateObject {
  Boxed<DeclaredObject> object;
  bool operator==(const CreateObject&) const = default;
};

struct PatchObject {
  Boxed<DeclaredObject> object;
  std::string uid;
  std::string resource_version;  ///< The patch expects this very version.
  bool without_labels = false;   ///< It has none, so that the patch makes the list.
  bool operator==(const PatchObject&) const = default;
};

struct DeleteObject {
  Resource resource;
  std::string name;
  std::string uid;
  bool operator==(const DeleteObject&) const = default;
};

using Effect = std::variant<AddFinalizer, RemoveFinalizer, CreateNamespace, RepairNamespace, CreateQuota, RepairQuota,
                            DeleteQuota, WriteStatus, WriteArchive, CreateObject, PatchObject, DeleteObject>;

/// How often, and since when, something was repaired that others undo again and again.
struct Contest {
  std::uint64_t count = 0;
  Time since{};
  bool operator==(const Contest&) const = default;
};

/// One field that differs, for people and for machines that read the plan.
struct FieldChange {
  std::string path;                 ///< As kubectl spells it: "spec.hard.pods", "metadata.labels['a/b']".
  std::optional<std::string> from;  ///< Nothing: it was not there.
  std::optional<std::string> to;    ///< Nothing: it goes.
  Boxed<Writer> writer;             ///< Who set `from`, where the server knows and it was not cnpa-op.
  Boxed<Absence> absence;           ///< Without `from`: what can be told of that, if anything.
  std::optional<Contest> contested = std::nullopt;  ///< Of what was repaired, where that is known.
  bool operator==(const FieldChange&) const = default;
};

/// Why a change is made.
enum class Cause {
  kMissing,       ///< It should be there and is not.
  kDiffers,       ///< It is there with other values: `fields` says which.
  kScoped,        ///< The quota has scopes, which are immutable and narrow what it binds.
  kBehind,        ///< The status does not tell what holds now.
  kBeingDeleted,  ///< The TeamSpace has a deletionTimestamp.
  kNotDeclared    ///< It bears our mark, and nothing asks for it.
};

/// Returns the cause in one word, as ReasonName() has it for reasons: "BeingDeleted".
constexpr std::string_view CauseName(Cause cause) {
  switch (cause) {
    case Cause::kMissing: return "Missing";
    case Cause::kDiffers: return "Differs";
    case Cause::kScoped: return "Scoped";
    case Cause::kBehind: return "StatusBehind";
    case Cause::kBeingDeleted: return "BeingDeleted";
    case Cause::kNotDeclared: return "NotDeclared";
  }
  return "";
}

struct Change {
  Effect effect;
  Cause cause = Cause::kMissing;
  std::vector<FieldChange> fields;
  std::optional<Contest> contested = std::nullopt;  ///< Of an object that was made anew, and of our finalizer.
  bool operator==(const Change&) const = default;
};

/// Where a chain stands in a pass: deletions first, then repairs, then new ones, so that a backlog starves nobody.
enum class Turn { kDeletion, kRepair, kNew };

struct Chain {
  Boxed<ObjectRef> subject{};  ///< What it is about, where that is no TeamSpace; the next two are of that.
  std::string name;            ///< Of the TeamSpace.
  std::string uid;             ///< Of the TeamSpace: every patch of it tests this.
  std::int64_t generation = 0;
  bool deleting = false;
  Turn turn = Turn::kRepair;
  std::vector<Change> changes;
  bool confirm = false;            ///< The server must say first that the TeamSpace is still what was listed.
  std::optional<Refusal> refusal;  ///< Set: `changes` do not bring the TeamSpace to its desired state.
  TeamSpaceStatus observed_status;
  std::optional<std::string> namespace_name;  ///< The namespace, when it was there and ours.
  Boxed<std::string> namespace_uid;           ///< Of that namespace.
  CrdFacts crd;
  bool operator==(const Chain&) const = default;
};

/// Chains of the TeamSpaces that have something to do or are refused, in the order of their turns, then names.
struct Plan {
  std::vector<Chain> chains;
  std::size_t team_spaces = 0;  ///< All that were looked at.
  Time computed_at{};           ///< When the cluster was observed.

  /// Returns whether there is nothing to write.
  bool empty() const;
  bool operator==(const Plan&) const = default;
};

/// Returns what `chain` is about.
ObjectRef SubjectOf(const Chain& chain);

}  // namespace cnpa
