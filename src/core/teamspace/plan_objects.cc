// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/plan_objects.h"

#include <utility>

#include "base/text.h"

namespace cnpa {
namespace {

/// Says of a field who set it, or what can be told of its absence.
void TellWriter(const FieldWriters& writers, const WriteTrace& trace, bool had, FieldChange& field) {
  if (field.from) {
    field.writer = WriterOf(writers, field.path);
  } else {
    field.absence = ComputeAbsence(trace, had);
  }
}

/// Returns the reference that an earlier TeamSpace of this name left.
std::optional<std::size_t> FindEarlier(const Namespace& observed, const std::string& name) {
  for (std::size_t i = 0; i < observed.owners.size(); ++i) {
    if (IsTeamSpaceOwner(observed.owners[i]) && observed.owners[i].name == name) return i;
  }
  return std::nullopt;
}

/// `reconciled`: the TeamSpace has been, so its namespace had the reference.
void RepairOwner(const Namespace& observed, const Ownership& ownership, bool reconciled, RepairNamespace& repair,
                 Change& change) {
  const bool is_there = ownership.claim == Claim::kOwner;
  const std::optional<std::size_t> place =
      is_there ? std::optional(ownership.index) : FindEarlier(observed, repair.owner.name);
  FieldChange field{.path = std::string(kOwnersPath), .to = repair.owner.uid};
  if (place) {
    const OwnerReference& there = observed.owners[*place];
    repair.index = *place;
    repair.expected_uid = there.uid;
    if (there == repair.owner) return;
    repair.owner_repair = OwnerRepair::kReplace;
    field.from = is_there ? OwnerText(there) : there.uid;
    if (is_there) field.to = OwnerText(repair.owner);
    field.writer = WriterOf(observed.writers, OwnerPath(there.uid));
  } else {
    repair.owner_repair = observed.owners.empty() ? OwnerRepair::kCreateList : OwnerRepair::kAppend;
    field.absence = ComputeAbsence(observed.trace, reconciled);
  }
  change.fields.push_back(std::move(field));
}

/// A quota that must go and is kept by others.
Refusal HeldQuota(const Quota& quota) {
  std::string words = "ResourceQuota " + quota.namespace_name + "/" + std::string(kQuotaName) + " has scopes (" +
                      quota.scopes + ") and is being deleted";
  const char* before = quota.finalizers.size() > 1 ? ", but the finalizers " : ", but the finalizer ";
  for (const std::string& finalizer : quota.finalizers) {
    words += before + ("'" + finalizer + "'");
    before = ", ";
  }
  if (!quota.finalizers.empty()) words += quota.finalizers.size() > 1 ? " hold it" : " holds it";
  return {Reason::kQuotaRefused, Shortened(words, kLongestMessage) + ": it is re-created once it is gone"};
}

void RepairHard(const Quota& observed, const DesiredTeamSpace& desired, std::vector<Change>& changes) {
  std::vector<FieldChange> fields = CompareHard(observed.hard, desired.hard);
  if (fields.empty()) return;
  for (FieldChange& field : fields) TellWriter(observed.writers, observed.trace, true, field);
  changes.push_back({RepairQuota{desired.namespace_name, observed.uid, observed.hard, desired.hard}, Cause::kDiffers,
                     std::move(fields)});
}

Change DeleteScoped(const Quota& observed) {
  FieldChange scopes{.path = std::string(kScopesPath), .from = observed.scopes};
  scopes.writer = WriterOf(observed.writers, scopes.path);
  return {DeleteQuota{observed.namespace_name, observed.uid}, Cause::kScoped, {std::move(scopes)}};
}

}  // namespace

std::vector<FieldChange> CompareHard(const std::map<std::string, std::string>& hard,
                                     const std::map<std::string, std::string>& desired) {
  std::vector<FieldChange> fields;
  for (const auto& [key, to] : desired) {
    const auto from = hard.find(key);
    if (from == hard.end()) {
      fields.push_back({.path = std::string(kHardPath) + key, .to = to});
    } else if (!SameQuantity(from->second, to)) {
      fields.push_back({.path = std::string(kHardPath) + key, .from = from->second, .to = to});
    }
  }
  for (const auto& [key, from] : hard) {
    if (!desired.contains(key)) fields.push_back({.path = std::string(kHardPath) + key, .from = from});
  }
  return fields;
}

std::string OwnerText(const OwnerReference& owner) {
  return owner.api_version + " " + owner.kind + "/" + owner.name;
}

std::optional<Change> ComputeNamespaceRepair(const Namespace& observed, const Ownership& ownership, bool reconciled,
                                             const DesiredTeamSpace& desired) {
  RepairNamespace repair;
  repair.name = observed.name;
  repair.uid = observed.uid;
  repair.claim = ownership.claim;
  repair.owner = desired.owner;
  Change change{.effect = {}, .cause = Cause::kDiffers, .fields = {}};
  if (observed.team_space_label != desired.owner.name) {
    repair.set_label = true;
    FieldChange field{.path = LabelPath(), .from = observed.team_space_label, .to = desired.owner.name};
    TellWriter(observed.writers, observed.trace, true, field);
    change.fields.push_back(std::move(field));
  }
  RepairOwner(observed, ownership, reconciled, repair, change);
  if (change.fields.empty()) return std::nullopt;
  change.effect = std::move(repair);
  return change;
}

bool IsOurs(const Chain& chain, const Namespace& space) {
  return ComputeOwnership(space, OwnerReferenceTo(chain.name, chain.uid), chain.observed_status.namespace_uid).ours();
}

std::optional<Refusal> PlanQuota(const Quota* observed, const DesiredTeamSpace& desired, std::vector<Change>& changes) {
  if (observed != nullptr && !observed->scoped) {
    // Also one that is being deleted: it binds as long as others hold it.
    RepairHard(*observed, desired, changes);
    return std::nullopt;
  }
  if (observed != nullptr) {
    if (!observed->terminating) changes.push_back(DeleteScoped(*observed));
    // Until it is gone the name is taken.
    if (observed->terminating || !observed->finalizers.empty()) return HeldQuota(*observed);
  }
  changes.push_back(
      {CreateQuota{desired.namespace_name, desired.hard}, Cause::kMissing, CompareHard({}, desired.hard)});
  return std::nullopt;
}

}  // namespace cnpa
