// SPDX-License-Identifier: Apache-2.0
#include "core/plan.h"

#include <algorithm>
#include <utility>

#include "base/overloaded.h"
#include "base/text.h"
#include "core/status.h"
#include "core/unauthorized.h"

namespace cnpa {
namespace {

/// A condition's message may have 32768 characters; nobody reads more than a screen of it.
constexpr std::size_t kLongestMessage = 1024;

/// The objects of a list by their key, whatever the list's order.
template <typename T>
class Index {
 public:
  Index(const std::vector<T>& objects, std::string T::*key) : key_(key) {
    sorted_.reserve(objects.size());
    for (const T& object : objects) sorted_.push_back(&object);
    const auto before = [key](const T* left, const T* right) { return left->*key < right->*key; };
    // The server sorts its lists, so this is a look and no work.
    if (!std::is_sorted(sorted_.begin(), sorted_.end(), before)) std::sort(sorted_.begin(), sorted_.end(), before);
  }

  const T* Find(const std::string& name) const {
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), name,
                                        [this](const T* object, const std::string& n) { return object->*key_ < n; });
    return found != sorted_.end() && (*found)->*key_ == name ? *found : nullptr;
  }

  const std::vector<const T*>& sorted() const { return sorted_; }

 private:
  std::string T::*key_;
  std::vector<const T*> sorted_;
};

/// Returns whether `owner` names a TeamSpace of any version of our API.
bool IsTeamSpaceOwner(const OwnerReference& owner) {
  const std::string_view group = kTeamSpaceApiVersion.substr(0, kTeamSpaceApiVersion.find('/') + 1);
  return owner.kind == kTeamSpaceKind && std::string_view(owner.api_version).starts_with(group);
}

/// Says of a field who set it, or what can be told of its absence.
void TellWriter(const FieldWriters& writers, const WriteTrace& trace, bool had, FieldChange& field) {
  if (field.from) {
    field.writer = WriterOf(writers, field.path);
  } else {
    field.absence = ComputeAbsence(trace, had);
  }
}

/// An ownerReference for people, where its uid is not what differs.
std::string Text(const OwnerReference& owner) {
  return owner.api_version + " " + owner.kind + "/" + owner.name;
}

/// Who an existing namespace belongs to. Identity is the uid; our label for this TeamSpace is an admin's
/// word, or drift.
struct Ownership {
  bool ours = false;
  std::string conflict;  ///< For the team, when it is not ours.
};

Ownership ComputeOwnership(const Namespace& observed, const OwnerReference& owner) {
  const OwnerReference* other = nullptr;
  for (const OwnerReference& reference : observed.owners) {
    if (reference.uid == owner.uid) return {.ours = true, .conflict = {}};
    if (IsTeamSpaceOwner(reference) && reference.name != owner.name) other = &reference;
  }
  if (other != nullptr) {
    return {.ours = false, .conflict = "namespace " + observed.name + " belongs to TeamSpace " + other->name};
  }
  if (observed.team_space_label == owner.name) return {.ours = true, .conflict = {}};
  return {.ours = false,
          .conflict = "namespace " + observed.name +
                      " exists and is not ours: take another name, or hand it over with: kubectl label namespace " +
                      observed.name + " --overwrite " + std::string(kTeamSpaceLabel) + "=" + owner.name};
}

/// `reconciled`: the TeamSpace has been, so its namespace had the reference.
void RepairOwner(const Namespace& observed, bool reconciled, RepairNamespace& repair, Change& change) {
  std::optional<std::size_t> earlier;
  for (std::size_t i = 0; i < observed.owners.size(); ++i) {
    const OwnerReference& reference = observed.owners[i];
    if (reference == repair.owner) return;
    if (reference.uid == repair.owner.uid || (IsTeamSpaceOwner(reference) && reference.name == repair.owner.name)) {
      // A reference with our uid wins over one that an earlier TeamSpace of this name left.
      if (!earlier || reference.uid == repair.owner.uid) earlier = i;
    }
  }
  FieldChange field{.path = std::string(kOwnersPath), .to = repair.owner.uid};
  if (earlier) {
    const OwnerReference& replaced = observed.owners[*earlier];
    repair.owner_repair = OwnerRepair::kReplace;
    repair.index = *earlier;
    repair.replaced_uid = replaced.uid;
    field.from = replaced.uid;
    if (replaced.uid == repair.owner.uid) {
      field.from = Text(replaced);
      field.to = Text(repair.owner);
    }
    field.writer = WriterOf(observed.writers, OwnerPath(replaced.uid));
  } else {
    repair.owner_repair = observed.owners.empty() ? OwnerRepair::kCreateList : OwnerRepair::kAppend;
    field.absence = ComputeAbsence(observed.trace, reconciled);
  }
  change.fields.push_back(std::move(field));
}

std::optional<Change> ComputeNamespaceRepair(const Namespace& observed, bool reconciled,
                                             const DesiredTeamSpace& desired) {
  RepairNamespace repair;
  repair.name = observed.name;
  repair.uid = observed.uid;
  repair.owner = desired.owner;
  Change change{.effect = {}, .cause = Cause::kDiffers, .fields = {}};
  if (observed.team_space_label != desired.owner.name) {
    repair.set_label = true;
    FieldChange field{.path = LabelPath(), .from = observed.team_space_label, .to = desired.owner.name};
    TellWriter(observed.writers, observed.trace, true, field);
    change.fields.push_back(std::move(field));
  }
  RepairOwner(observed, reconciled, repair, change);
  if (change.fields.empty()) return std::nullopt;
  change.effect = std::move(repair);
  return change;
}

std::vector<FieldChange> CompareHard(const Quota* observed, const std::map<std::string, std::string>& desired) {
  std::vector<FieldChange> fields;
  static const std::map<std::string, std::string> kNothing;
  const std::map<std::string, std::string>& hard = observed != nullptr ? observed->hard : kNothing;
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
  if (observed == nullptr) return fields;
  for (FieldChange& field : fields) TellWriter(observed->writers, observed->trace, true, field);
  return fields;
}

void PlanQuota(const Quota* observed, const DesiredTeamSpace& desired, std::vector<Change>& changes) {
  const std::string& space = desired.namespace_name;
  if (observed != nullptr && !observed->scoped) {
    std::vector<FieldChange> fields = CompareHard(observed, desired.hard);
    if (fields.empty()) return;
    changes.push_back(
        {RepairQuota{space, observed->uid, observed->hard, desired.hard}, Cause::kDiffers, std::move(fields)});
    return;
  }
  if (observed != nullptr) {
    FieldChange scopes{.path = std::string(kScopesPath), .from = observed->scopes};
    scopes.writer = WriterOf(observed->writers, scopes.path);
    changes.push_back({DeleteQuota{space, observed->uid}, Cause::kScoped, {std::move(scopes)}});
  }
  changes.push_back({CreateQuota{space, desired.hard}, Cause::kMissing, CompareHard(nullptr, desired.hard)});
}

Refusal NamespaceTerminating(const std::string& name) {
  return {Reason::kNamespaceTerminating, "namespace " + name + " is being deleted; it is made anew once it is gone"};
}

/// What of the cluster concerns one TeamSpace.
struct Surroundings {
  const Namespace* space = nullptr;
  const Quota* quota = nullptr;
};

/// Returns whether a pass has brought the TeamSpace to its desired state once: observedGeneration is written last.
bool WasReconciled(const Chain& chain) {
  return chain.observed_status.observed_generation.has_value();
}

/// Plans the namespace and the quota of a TeamSpace; returns why that can't be done, if it can't.
std::optional<Refusal> PlanObjects(const DesiredTeamSpace& desired, const Surroundings& around, Chain& chain) {
  const Namespace* space = around.space;
  if (space != nullptr) {
    const Ownership ownership = ComputeOwnership(*space, desired.owner);
    if (ownership.ours) chain.namespace_name = space->name;
    if (space->terminating) {
      return NamespaceTerminating(space->name);
    }
    if (!ownership.ours) return Refusal{Reason::kNamespaceConflict, ownership.conflict};
  }
  if (desired.refusal) return desired.refusal;
  if (space == nullptr) {
    chain.changes.push_back({CreateNamespace{desired.namespace_name, desired.owner}, Cause::kMissing, {}});
    if (!chain.observed_status.observed_generation) chain.turn = Turn::kNew;
  } else if (std::optional<Change> repair = ComputeNamespaceRepair(*space, WasReconciled(chain), desired)) {
    chain.changes.push_back(std::move(*repair));
  }
  PlanQuota(around.quota, desired, chain.changes);
  return std::nullopt;
}

/// Returns the status that `team_space` should have, as far as its CRD has room for it.
TeamSpaceStatus ComputeStatus(const TeamSpace& team_space, const Chain& chain, const CrdFacts& crd, Time now) {
  TeamSpaceStatus status =
      chain.refusal ? RefusedStatus(team_space.status, *chain.refusal, team_space.generation, chain.namespace_name, now)
                    : ReconciledStatus(team_space.status, team_space.name, team_space.generation, now);
  if (!crd.has_conditions) status.ready = team_space.status.ready;
  return status;
}

/// Returns what is to be told of our finalizer that is not there: of a new TeamSpace nothing.
std::vector<FieldChange> FinalizerAbsence(const TeamSpace& team_space) {
  if (!team_space.trace.ours) return {};
  std::optional<Absence> absence = ComputeAbsence(team_space.trace, team_space.status.observed_generation.has_value());
  if (!absence) return {};
  return {{.path = std::string(kFinalizersPath), .to = std::string(kFinalizer), .absence = std::move(absence)}};
}

/// Says of each field of the status who set it. Where all else is as it should be (`complete`), one that is not there
/// was there before, as far as anybody knows; a team space on its way has none as yet.
void TellStatusWriters(const TeamSpace& team_space, bool complete, Change& change) {
  const TeamSpaceStatus& status = team_space.status;
  // What says Reconciled was written together with the rest.
  const bool was_whole = status.ready && status.ready->status == "True";
  for (FieldChange& field : change.fields) {
    if (!field.from) {
      if (complete) field.absence = ComputeAbsence(team_space.status_trace, was_whole);
    } else if (field.path == kReadyConditionPath) {
      const auto& desired = std::get<WriteStatus>(change.effect).desired;
      const bool same = status.ready && desired.ready && status.ready->status == desired.ready->status;
      field.writer = WriterOf(team_space.writers, ReadyMemberPath(same ? "reason" : "status"));
    } else {
      field.writer = WriterOf(team_space.writers, field.path);
    }
  }
}

void PlanLive(const TeamSpace& team_space, const Surroundings& around, const Observation& observation, Chain& chain) {
  if (std::find(team_space.finalizers.begin(), team_space.finalizers.end(), kFinalizer) ==
      team_space.finalizers.end()) {
    chain.changes.push_back({AddFinalizer{team_space.finalizers}, Cause::kMissing, FinalizerAbsence(team_space)});
  }
  chain.refusal = PlanObjects(ComputeDesired(team_space), around, chain);
  if (!observation.crd.has_status) {
    if (!chain.refusal) {
      chain.refusal = Refusal{Reason::kCrdUnfit,
                              "the TeamSpace CRD has no status subresource, or drops observedGeneration or namespace "
                              "from it, so nobody can see what is done: cnpa-op crd | kubectl apply -f -"};
    }
    return;
  }
  const TeamSpaceStatus status = ComputeStatus(team_space, chain, observation.crd, observation.observed_at);
  // Last, so that observedGeneration never runs ahead of what is there.
  if (std::optional<Change> change = StatusChange(team_space.status, status)) {
    TellStatusWriters(team_space, chain.changes.empty(), *change);
    chain.changes.push_back(std::move(*change));
  }
}

void PlanDeletion(const TeamSpace& team_space, const Observation& observation, const PlanOptions& options,
                  Chain& chain) {
  const auto ours = std::find(team_space.finalizers.begin(), team_space.finalizers.end(), kFinalizer);
  // What is being deleted and still there has finalizers: a list without any is one that could not be read.
  if (team_space.finalizers.empty() && !team_space.unreadable.empty()) {
    chain.refusal = Refusal{Reason::kUnreadable, team_space.unreadable};
  }
  if (ours == team_space.finalizers.end()) return;  // Others hold it; our part is done.
  if (observation.crd.deleting && !options.allow_crd_deletion) {
    chain.refusal = Refusal{Reason::kCrdDeleting,
                            "the TeamSpace CRD is being deleted, and with it every TeamSpace and namespace: nothing is "
                            "finalized until a pass runs with --allow-crd-deletion"};
    return;
  }
  chain.changes.push_back({WriteArchive{.name = team_space.name,
                                        .uid = team_space.uid,
                                        .pods = team_space.pods,
                                        .cpu = team_space.cpu,
                                        .generation = team_space.generation,
                                        .deleted_at = team_space.deletion_timestamp,
                                        .archived_at = FormatTime(observation.observed_at)},
                           Cause::kBeingDeleted,
                           {}});
  chain.changes.push_back(
      {RemoveFinalizer{static_cast<std::size_t>(ours - team_space.finalizers.begin())}, Cause::kBeingDeleted, {}});
}

std::optional<Refusal> Unreadable(const TeamSpace& team_space, const Surroundings& around) {
  const auto refuse = [](const std::string& what) { return Refusal{Reason::kUnreadable, what}; };
  if (!team_space.unreadable.empty()) return refuse(team_space.unreadable);
  if (around.space != nullptr && !around.space->unreadable.empty()) return refuse(around.space->unreadable);
  if (around.quota != nullptr && !around.quota->unreadable.empty()) return refuse(around.quota->unreadable);
  return std::nullopt;
}

bool IsQuotaChange(const Change& change) {
  return std::holds_alternative<CreateQuota>(change.effect) || std::holds_alternative<RepairQuota>(change.effect) ||
         std::holds_alternative<DeleteQuota>(change.effect);
}

}  // namespace

bool Plan::empty() const {
  return std::all_of(chains.begin(), chains.end(), [](const Chain& chain) { return chain.changes.empty(); });
}

ObjectRef ObjectOf(const Chain& chain, const Change& change) {
  const auto space = [](const std::string& name) { return ObjectRef{"Namespace", "", name}; };
  const auto quota = [](const std::string& in) { return ObjectRef{"ResourceQuota", in, std::string(kQuotaName)}; };
  return std::visit(Overloaded{[&](const CreateNamespace& effect) { return space(effect.name); },
                               [&](const RepairNamespace& effect) { return space(effect.name); },
                               [&](const CreateQuota& effect) { return quota(effect.namespace_name); },
                               [&](const RepairQuota& effect) { return quota(effect.namespace_name); },
                               [&](const DeleteQuota& effect) { return quota(effect.namespace_name); },
                               [&](const auto&) {
                                 return ObjectRef{std::string(kTeamSpaceKind), "", chain.name};
                               }},
                    change.effect);
}

const CreateNamespace* NamespaceMade(const Chain& chain, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto* made = std::get_if<CreateNamespace>(&chain.changes[i].effect)) return made;
  }
  return nullptr;
}

std::string_view CauseName(Cause cause) {
  switch (cause) {
    case Cause::kMissing: return "Missing";
    case Cause::kDiffers: return "Differs";
    case Cause::kScoped: return "Scoped";
    case Cause::kBehind: return "StatusBehind";
    case Cause::kBeingDeleted: return "BeingDeleted";
  }
  return "";
}

Plan ComputePlan(const Observation& observation, const PlanOptions& options) {
  const Index team_spaces(observation.team_spaces, &TeamSpace::name);
  const Index namespaces(observation.namespaces, &Namespace::name);
  const Index quotas(observation.quotas, &Quota::namespace_name);
  Plan plan{.chains = {}, .team_spaces = team_spaces.sorted().size(), .computed_at = observation.observed_at};
  for (const TeamSpace* team_space : team_spaces.sorted()) {
    const std::string name = NamespaceNameOf(team_space->name);
    const Surroundings around{namespaces.Find(name), quotas.Find(name)};
    Chain chain{.name = team_space->name,
                .uid = team_space->uid,
                .generation = team_space->generation,
                .deleting = team_space->deleting(),
                .turn = team_space->deleting() ? Turn::kDeletion : Turn::kRepair,
                .changes = {},
                .refusal = {},
                .observed_status = team_space->status,
                .crd = observation.crd};
    if (team_space->deleting()) {
      PlanDeletion(*team_space, observation, options, chain);
    } else if (std::optional<Refusal> unreadable = Unreadable(*team_space, around)) {
      chain.refusal = std::move(unreadable);
    } else {
      PlanLive(*team_space, around, observation, chain);
    }
    if (!chain.changes.empty() || chain.refusal) plan.chains.push_back(std::move(chain));
  }
  std::stable_sort(plan.chains.begin(), plan.chains.end(),
                   [](const Chain& left, const Chain& right) { return left.turn < right.turn; });
  return plan;
}

std::optional<Refusal> ClassifyFailure(const Chain& chain, const Change& failed, const Error& error) {
  const auto refuse = [&error](Reason reason, const std::string& advice) {
    return Refusal{reason, Shortened(advice + ": " + error.message, kLongestMessage)};
  };
  switch (error.code) {
    case ErrorCode::kTerminating: return NamespaceTerminating(NamespaceNameOf(chain.name));
    case ErrorCode::kDenied:
      return refuse(Reason::kForbidden,
                    IsUnauthorized(error)
                        ? "the server takes cnpa-op's credentials no more; a cluster admin can renew them"
                        : "cnpa-op lacks a right that a cluster admin can give it");
    case ErrorCode::kMalformed:
    case ErrorCode::kInvalid:
      if (std::holds_alternative<WriteArchive>(failed.effect)) {
        return refuse(Reason::kArchiveFailed, "the TeamSpace stays until its archive can be written");
      }
      if (IsQuotaChange(failed) && error.code == ErrorCode::kInvalid) {
        return refuse(Reason::kQuotaRefused, "the server refuses the quota; change the spec, or ask a cluster admin");
      }
      return refuse(Reason::kWriteFailed, "the server refuses a write; a cluster admin can tell why");
    case ErrorCode::kNotFound:
    case ErrorCode::kConflict:
    case ErrorCode::kUnreachable:
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnsupported:
    case ErrorCode::kStopped: break;
  }
  return std::nullopt;
}

std::optional<Change> ComputeRefusedStatus(const Chain& chain, std::size_t failed, const Refusal& refusal, Time now) {
  if (chain.deleting && refusal.reason != Reason::kArchiveFailed) return std::nullopt;
  // Without conditions there is no place to say it; and a status write that fails can't be told by a status write.
  if (!chain.crd.has_status || !chain.crd.has_conditions) return std::nullopt;
  if (std::holds_alternative<WriteStatus>(chain.changes[failed].effect)) return std::nullopt;
  std::optional<std::string> namespace_name =
      chain.deleting ? chain.observed_status.namespace_name : chain.namespace_name;
  if (const CreateNamespace* made = NamespaceMade(chain, failed)) namespace_name = made->name;
  return StatusChange(chain.observed_status,
                      RefusedStatus(chain.observed_status, refusal, chain.generation, std::move(namespace_name), now));
}

}  // namespace cnpa
