// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/explanation_objects.h"

#include <algorithm>
#include <utility>

#include "core/plan/describe.h"
#include "core/teamspace/desired.h"

namespace cnpa {
namespace {

bool IsOwnedBy(const Namespace& space, const std::string& uid) {
  return std::any_of(space.owners.begin(), space.owners.end(),
                     [&uid](const OwnerReference& owner) { return owner.uid == uid; });
}

std::optional<std::string> Text(const std::optional<std::int64_t>& number) {
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

std::optional<std::string> Text(const std::optional<Condition>& ready) {
  return ready ? std::optional(ready->status + " (" + ready->reason + ")") : std::nullopt;
}

/// Returns whether `chain` makes a change of that action to an object of `kind`.
bool Makes(const Chain* chain, Action action, std::string_view kind) {
  if (chain == nullptr) return false;
  return std::any_of(chain->changes.begin(), chain->changes.end(), [&](const Change& change) {
    return ActionOf(change) == action && ObjectOf(*chain, change).kind == kind;
  });
}

/// The fields that a plan changes, of which it says all.
class Differences {
 public:
  explicit Differences(const Chain* chain) {
    if (chain == nullptr) return;
    for (const Change& change : chain->changes) {
      for (const FieldChange& field : change.fields) changes_.push_back(&field);
    }
  }

  /// Returns the change of the field at `path`.
  const FieldChange* Of(const std::string& path) const {
    for (const FieldChange* change : changes_) {
      if (change->path == path) return change;
    }
    return nullptr;
  }

  /// Returns those of fields whose path begins so and that `fields` does not have.
  std::vector<const FieldChange*> Others(std::string_view prefix, const std::vector<FieldFinding>& fields) const {
    std::vector<const FieldChange*> others;
    for (const FieldChange* change : changes_) {
      const auto is_it = [change](const FieldFinding& field) { return field.path == change->path; };
      if (change->path.starts_with(prefix) && std::none_of(fields.begin(), fields.end(), is_it)) {
        others.push_back(change);
      }
    }
    return others;
  }

 private:
  std::vector<const FieldChange*> changes_;
};

/// Collects the fields of one object.
class Fields {
 public:
  Fields(const Differences& differences, const ObjectSight& sight) : differences_(differences), sight_(sight) {}

  /// Adds a field; what the plan says of it goes before `wanted` and `found`.
  FieldFinding& Add(const std::string& path, std::optional<std::string> wanted, std::optional<std::string> found) {
    FieldFinding field{.path = path, .wanted = std::move(wanted), .found = std::move(found)};
    if (const FieldChange* change = differences_.Of(path)) {
      Take(*change, field);
    } else if (field.found) {
      field.writer = WriterOf(sight_.writers, path);
    }
    fields_.push_back(std::move(field));
    return fields_.back();
  }

  /// Adds what the plan changes beside these, of paths that begin with `prefix`.
  void AddOthers(std::string_view prefix) {
    for (const FieldChange* change : differences_.Others(prefix, fields_)) {
      FieldFinding field{.path = change->path};
      Take(*change, field);
      fields_.push_back(std::move(field));
    }
  }

  std::vector<FieldFinding> TakeAll() { return std::move(fields_); }

 private:
  void Take(const FieldChange& change, FieldFinding& field) const {
    field.wanted = change.to;
    field.found = change.from;
    field.differs = true;
    field.writer = change.writer;
    if (!field.writer && field.found) field.writer = WriterOf(sight_.writers, change.path);
    field.absence = change.absence;
  }

  const Differences& differences_;
  const ObjectSight& sight_;
  std::vector<FieldFinding> fields_;
};

ObjectFinding FindingOf(std::string kind, const std::string& namespace_name, std::string name, const ObjectSight& sight,
                        const std::string& uid) {
  return {.kind = std::move(kind),
          .namespace_name = namespace_name,
          .name = std::move(name),
          .presence = uid.empty()              ? Presence::kMissing
                      : !sight.deleted.empty() ? Presence::kDeleting
                                               : Presence::kThere,
          .uid = uid,
          .created = sight.created,
          .deleted = sight.deleted,
          .fields = {}};
}

/// Returns the ownerReferences for people, where none is ours: "TeamSpace/blue, ConfigMap/x".
std::optional<std::string> OwnersText(const Namespace& space) {
  std::string text;
  for (const OwnerReference& owner : space.owners) {
    text.append(text.empty() ? "" : ", ").append(owner.kind).append("/").append(owner.name);
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Returns whether a pass brings the quota to what the TeamSpace asks for.
bool IsAsked(const KnownTeamSpace& known) {
  if (known.team_space->deleting()) return false;
  return known.chain == nullptr || !known.chain->refusal || known.chain->refusal->reason == Reason::kCrdUnfit;
}

}  // namespace

ObjectFinding FindTeamSpace(const KnownTeamSpace& known) {
  const Differences differences(known.chain);
  const TeamSpace& team_space = *known.team_space;
  ObjectFinding finding =
      FindingOf(std::string(kTeamSpaceKind), {}, team_space.name, known.sights->team_space, team_space.uid);
  Fields fields(differences, known.sights->team_space);
  const auto& finalizers = team_space.finalizers;
  const bool on = std::find(finalizers.begin(), finalizers.end(), kFinalizer) != finalizers.end();
  const std::optional<std::string> ours{std::string(kFinalizer)};
  const bool stays = !team_space.deleting();
  FieldFinding& finalizer =
      fields.Add(std::string(kFinalizersPath), stays ? ours : std::nullopt, on ? ours : std::nullopt);
  if (Makes(known.chain, Action::kUpdate, kTeamSpaceKind) || Makes(known.chain, Action::kRelease, kTeamSpaceKind)) {
    finalizer.differs = true;
  }
  const TeamSpaceStatus& status = team_space.status;
  for (const auto& [path, found] :
       {std::pair(kObservedGenerationPath, Text(status.observed_generation)),
        std::pair(kStatusNamespacePath, status.namespace_name), std::pair(kReadyConditionPath, Text(status.ready))}) {
    FieldFinding& field = fields.Add(std::string(path), found, found);
    if (field.found && !field.writer && path == kReadyConditionPath) {
      field.writer = WriterOf(known.sights->team_space.writers, ReadyMemberPath("status"));
    }
  }
  fields.AddOthers("status.");
  finding.fields = fields.TakeAll();
  return finding;
}

ObjectFinding FindNamespace(const KnownTeamSpace& known, const std::string& name) {
  const Differences differences(known.chain);
  const Namespace* space = known.space;
  ObjectFinding finding =
      FindingOf("Namespace", {}, NamespaceNameOf(name), known.sights->space, space != nullptr ? space->uid : "");
  const bool live = known.team_space != nullptr && !known.team_space->deleting();
  const bool refused =
      known.chain != nullptr && known.chain->refusal && known.chain->refusal->reason == Reason::kNamespaceConflict;
  if (space != nullptr && space->terminating) finding.presence = Presence::kDeleting;
  if (refused) finding.presence = Presence::kForeign;
  if (known.team_space == nullptr) return finding;
  Fields fields(differences, known.sights->space);
  const std::string uid = known.team_space->uid;
  const bool asked = live && finding.presence != Presence::kForeign && finding.presence != Presence::kDeleting;
  const auto wanted = [asked](std::string value) { return asked ? std::optional(std::move(value)) : std::nullopt; };
  const bool owned = space != nullptr && IsOwnedBy(*space, uid);
  const bool made = Makes(known.chain, Action::kCreate, "Namespace");
  fields.Add(LabelPath(), wanted(name), space != nullptr ? space->team_space_label : std::nullopt).differs |= made;
  FieldFinding& owner = fields.Add(std::string(kOwnersPath), wanted(uid),
                                   owned              ? std::optional(uid)
                                   : space != nullptr ? OwnersText(*space)
                                                      : std::nullopt);
  owner.differs |= made;
  if (owned && !owner.differs) owner.writer = WriterOf(known.sights->space.writers, OwnerPath(uid));
  finding.fields = fields.TakeAll();
  return finding;
}

ObjectFinding FindQuota(const KnownTeamSpace& known, const std::string& name) {
  const Differences differences(known.chain);
  const Quota* quota = known.quota;
  ObjectFinding finding = FindingOf("ResourceQuota", NamespaceNameOf(name), std::string(kQuotaName),
                                    known.sights->quota, quota != nullptr ? quota->uid : "");
  Fields fields(differences, known.sights->quota);
  std::map<std::string, std::string> wanted;
  if (known.team_space->pods && IsAsked(known)) wanted = ComputeDesired(*known.team_space).hard;
  const bool made = Makes(known.chain, Action::kCreate, "ResourceQuota");
  const auto at = [](const std::map<std::string, std::string>& values, const std::string& key) {
    const auto value = values.find(key);
    return value == values.end() ? std::nullopt : std::optional(value->second);
  };
  for (const std::string_view known_key : {kPodsKey, kCpuKey}) {
    const std::string key(known_key);
    FieldFinding& field = fields.Add(std::string(kHardPath) + key, at(wanted, key),
                                     quota != nullptr ? at(quota->hard, key) : std::nullopt);
    field.differs |= made;
    field.used = at(known.sights->quota.used, key).value_or("");
  }
  fields.AddOthers("spec.");
  finding.fields = fields.TakeAll();
  return finding;
}

}  // namespace cnpa
