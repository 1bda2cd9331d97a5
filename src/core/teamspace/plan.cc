// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/plan.h"

#include <algorithm>
#include <utility>

#include "base/masked.h"
#include "base/overloaded.h"
#include "base/text.h"
#include "core/plan/change.h"
#include "core/plan/describe.h"
#include "core/plan/failure.h"
#include "core/teamspace/plan_objects.h"
#include "core/teamspace/status.h"

namespace cnpa {
namespace {

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
  Ownership ownership;
  if (space != nullptr) {
    ownership = ComputeOwnership(*space, desired.owner, chain.observed_status.namespace_uid);
    if (ownership.ours()) {
      chain.namespace_name = space->name;
      chain.namespace_uid = space->uid;
    }
    if (space->terminating) return NamespaceTerminating(space->name);
    if (!ownership.ours()) return Refusal{Reason::kNamespaceConflict, ownership.conflict};
  }
  if (desired.refusal) return desired.refusal;
  if (space == nullptr) {
    chain.changes.push_back({CreateNamespace{desired.namespace_name, desired.owner}, Cause::kMissing, {}});
    if (!chain.observed_status.observed_generation) chain.turn = Turn::kNew;
  } else if (std::optional<Change> repair = ComputeNamespaceRepair(*space, ownership, WasReconciled(chain), desired)) {
    chain.changes.push_back(std::move(*repair));
  }
  // A quota that was listed without its namespace has gone with it since.
  return PlanQuota(space != nullptr ? around.quota : nullptr, desired, chain.changes);
}

/// Returns the status that `team_space` should have, as far as its CRD has room for it.
TeamSpaceStatus ComputeStatus(const TeamSpace& team_space, const Chain& chain, Time now) {
  TeamSpaceStatus status =
      chain.refusal ? RefusedStatus(team_space.status, *chain.refusal, team_space.generation, chain.namespace_name, now)
                    : ReconciledStatus(team_space.status, team_space.name, team_space.generation, now);
  status.namespace_uid = chain.crd.has_namespace_uid ? chain.namespace_uid : Boxed<std::string>();
  if (!chain.crd.has_conditions) status.ready = team_space.status.ready;
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
      // The uid may never have been there: an older cnpa-op did not write it.
      const bool was_there = was_whole && field.path != kStatusNamespaceUidPath;
      if (complete) field.absence = ComputeAbsence(team_space.status_trace, was_there);
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
  if (!HasFinalizer(team_space)) {
    chain.changes.push_back({AddFinalizer{team_space.finalizers}, Cause::kMissing, FinalizerAbsence(team_space)});
  }
  chain.refusal = PlanObjects(ComputeDesired(team_space), around, chain);
  if (!chain.crd.has_status) {
    if (!chain.refusal) {
      chain.refusal = Refusal{Reason::kCrdUnfit,
                              "the TeamSpace CRD has no status subresource, or drops observedGeneration or namespace "
                              "from it, so nobody can see what is done: cnpa-op crd | kubectl apply -f -"};
    }
    return;
  }
  const TeamSpaceStatus status = ComputeStatus(team_space, chain, observation.observed_at);
  const bool awaits_uid = chain.crd.has_namespace_uid && NamespaceCreated(chain, chain.changes.size()).has_value();
  // Last, so that observedGeneration never runs ahead of what is there.
  if (std::optional<Change> change = StatusChange(team_space.status, status, awaits_uid)) {
    TellStatusWriters(team_space, chain.changes.empty(), *change);
    chain.changes.push_back(std::move(*change));
  }
}

RemoveFinalizer ComputeRemoval(const std::vector<std::string>& finalizers) {
  RemoveFinalizer removal;
  for (std::size_t i = finalizers.size(); i > 0; --i) {
    if (finalizers[i - 1] == kFinalizer) removal.places.push_back(i - 1);
  }
  return removal;
}

/// Takes `ArchiveFailed` out of the status of a TeamSpace that is archived and held by others. Behind the finalizer, so
/// that nothing keeps that on; a pass that was killed between the two leaves it to the next.
void PlanArchivedStatus(const TeamSpace& team_space, Chain& chain) {
  const TeamSpaceStatus& observed = team_space.status;
  if (!chain.crd.has_status || !observed.ready || observed.ready->reason != ReasonName(Reason::kArchiveFailed)) return;
  TeamSpaceStatus desired = observed;
  desired.ready.reset();
  std::optional<Change> change = StatusChange(observed, desired);
  change->cause = Cause::kBeingDeleted;
  chain.changes.push_back(std::move(*change));
}

void PlanDeletion(const TeamSpace& team_space, const Observation& observation, const PlanOptions& options,
                  Chain& chain) {
  // What is being deleted and still there has finalizers: a list without any is one that could not be read.
  if (team_space.finalizers.empty() && !team_space.unreadable.empty()) {
    chain.refusal = Refusal{Reason::kUnreadable, team_space.unreadable};
  }
  const RemoveFinalizer removal = ComputeRemoval(team_space.finalizers);
  if (removal.places.empty()) {
    PlanArchivedStatus(team_space, chain);
    return;
  }
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
                                        .archived_at = FormatTime(observation.observed_at),
                                        .texts = team_space.archived},
                           Cause::kBeingDeleted,
                           {}});
  const bool others_hold_it = removal.places.size() < team_space.finalizers.size();
  chain.changes.push_back({removal, Cause::kBeingDeleted, {}});
  if (others_hold_it) PlanArchivedStatus(team_space, chain);
}

std::optional<Refusal> Unreadable(const TeamSpace& team_space, const Surroundings& around) {
  const auto refuse = [](const std::string& what) { return Refusal{Reason::kUnreadable, what}; };
  if (!team_space.unreadable.empty()) return refuse(team_space.unreadable);
  if (around.space != nullptr && !around.space->unreadable.empty()) return refuse(around.space->unreadable);
  if (around.quota != nullptr && !around.quota->unreadable.empty()) return refuse(around.quota->unreadable);
  return std::nullopt;
}

/// Returns `refusal` in the words that the status has for it already, if they differ only in what does so with every
/// try, such as a port, or the number that somebody gave to the request.
Refusal InWordsOf(const Chain& chain, Refusal refusal) {
  const Boxed<Condition>& ready = chain.observed_status.ready;
  const bool same = ready && ready->status == "False" && ready->observed_generation == chain.generation &&
                    ready->reason == ReasonName(refusal.reason) && Masked(ready->message) == Masked(refusal.message);
  if (same) refusal.message = ready->message;
  return refusal;
}

/// Namespace and quota may have been listed later than their TeamSpace, and so be those of a newer spec, or of another
/// TeamSpace of that name. The patch that puts the finalizer on tests the TeamSpace itself, as that of its status does.
bool MustConfirm(const Chain& chain) {
  if (chain.deleting || chain.changes.empty()) return false;
  return ObjectOf(chain, chain.changes.front()).kind != kTeamSpaceKind;
}

}  // namespace

Plan ComputePlan(const Observation& observation, const PlanOptions& options) {
  const Index team_spaces(observation.team_spaces, &TeamSpace::name);
  const Index namespaces(observation.namespaces, &Namespace::name);
  const Index quotas(observation.quotas, &Quota::namespace_name);
  CrdFacts crd = observation.crd;
  crd.has_namespace_uid = crd.has_namespace_uid || ShowsNamespaceUid(observation);
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
                .crd = crd};
    if (team_space->deleting()) {
      PlanDeletion(*team_space, observation, options, chain);
    } else if (std::optional<Refusal> unreadable = Unreadable(*team_space, around)) {
      chain.refusal = std::move(unreadable);
    } else {
      PlanLive(*team_space, around, observation, chain);
    }
    chain.confirm = MustConfirm(chain);
    if (!chain.changes.empty() || chain.refusal) plan.chains.push_back(std::move(chain));
  }
  std::stable_sort(plan.chains.begin(), plan.chains.end(),
                   [](const Chain& left, const Chain& right) { return left.turn < right.turn; });
  return plan;
}

std::optional<Change> ComputeRefusedStatus(const Chain& chain, std::size_t failed, const Refusal& refusal, Time now,
                                           const Boxed<std::string>& created_uid) {
  if (chain.deleting && refusal.reason != Reason::kArchiveFailed) return std::nullopt;
  // Without conditions there is no place to say it; and a status write that fails can't be told by a status write.
  if (!chain.crd.has_status || !chain.crd.has_conditions) return std::nullopt;
  if (ActionOf(chain.changes[failed]) == Action::kWriteStatus) return std::nullopt;
  std::optional<std::string> name = chain.namespace_name;
  Boxed<std::string> uid = chain.namespace_uid;
  if (std::optional<std::string> created = NamespaceCreated(chain, failed)) {
    name = std::move(created);
    uid = created_uid;
  }
  if (chain.deleting) name = chain.observed_status.namespace_name;
  TeamSpaceStatus status =
      RefusedStatus(chain.observed_status, InWordsOf(chain, refusal), chain.generation, std::move(name), now);
  if (!chain.deleting) status.namespace_uid = chain.crd.has_namespace_uid ? std::move(uid) : Boxed<std::string>();
  return StatusChange(chain.observed_status, status);
}

}  // namespace cnpa
