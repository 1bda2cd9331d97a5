// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/explain.h"

#include <algorithm>
#include <utility>

#include "core/plan/describe.h"
#include "core/teamspace/explanation_objects.h"

namespace cnpa {
namespace {

template <typename T>
const T* Find(const std::vector<T>& objects, std::string T::*key, const std::string& name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const T& object) { return object.*key == name; });
  return found == objects.end() ? nullptr : &*found;
}

/// Adds what keeps an object which is being deleted, apart from us.
void AddHolds(const ObjectFinding& object, const ObjectSight& sight, std::vector<Hold>& holds) {
  if (object.presence != Presence::kDeleting) return;
  for (const std::string& finalizer : sight.finalizers) {
    if (finalizer != kFinalizer) holds.push_back({object.kind, object.name, finalizer, {}});
  }
  for (const Condition& condition : sight.conditions) {
    holds.push_back({object.kind, object.name, condition.type, condition.message});
  }
}

/// Returns what an earlier pass ran into when it tried what the next one will try again; no plan can know it.
std::optional<Condition> ToldBefore(const KnownTeamSpace& known) {
  if (known.team_space == nullptr || known.chain == nullptr || known.chain->refusal) return std::nullopt;
  const std::optional<Condition>& ready = known.team_space->status.ready;
  const auto& changes = known.chain->changes;
  const bool tries = std::any_of(changes.begin(), changes.end(),
                                 [](const Change& change) { return ActionOf(change) != Action::kWriteStatus; });
  return tries && ready && ready->status == "False" ? ready : std::nullopt;
}

/// Returns whether the server refused in an earlier pass what the next will try again: `told` is of this very spec, and
/// no plan can know that it comes out otherwise.
bool IsRefusedByServer(const Condition& told, std::int64_t generation) {
  const auto is = [&told](Reason reason) { return told.reason == ReasonName(reason); };
  return told.observed_generation == generation &&
         (is(Reason::kForbidden) || is(Reason::kQuotaRefused) || is(Reason::kWriteFailed));
}

Standing StandingOf(const KnownTeamSpace& known, const std::optional<Condition>& told) {
  if (known.team_space == nullptr) return Standing::kUnknown;
  if (known.team_space->deleting()) return Standing::kDeleting;
  if (known.chain == nullptr) return Standing::kInSync;
  if (known.chain->refusal) return known.chain->refusal->waiting() ? Standing::kWaiting : Standing::kRefused;
  if (told && IsRefusedByServer(*told, known.team_space->generation)) return Standing::kRefused;
  if (known.chain->turn == Turn::kNew) return Standing::kNew;
  return known.chain->changes.empty() ? Standing::kInSync : Standing::kOutOfSync;
}

}  // namespace

Explanation ComputeExplanation(const Observation& observation, const CloseSights& sights, const Plan& plan,
                               const std::string& name) {
  const std::string space_name = NamespaceNameOf(name);
  const KnownTeamSpace known{.team_space = Find(observation.team_spaces, &TeamSpace::name, name),
                             .space = Find(observation.namespaces, &Namespace::name, space_name),
                             .quota = Find(observation.quotas, &Quota::namespace_name, space_name),
                             .chain = Find(plan.chains, &Chain::name, name),
                             .sights = &sights};
  const std::optional<Condition> told = ToldBefore(known);
  Explanation explanation{.name = name,
                          .standing = StandingOf(known, told),
                          .chain = known.chain != nullptr ? std::optional(*known.chain) : std::nullopt,
                          .told = told,
                          .objects = {},
                          .holds = {},
                          .observed_at = observation.observed_at};
  if (known.team_space != nullptr) {
    explanation.objects.push_back(FindTeamSpace(known));
    AddHolds(explanation.objects.back(), sights.team_space, explanation.holds);
  }
  if (known.team_space == nullptr && known.space == nullptr) return explanation;
  explanation.objects.push_back(FindNamespace(known, name));
  AddHolds(explanation.objects.back(), sights.space, explanation.holds);
  const bool foreign = explanation.objects.back().presence == Presence::kForeign;
  if (known.team_space != nullptr && !foreign) explanation.objects.push_back(FindQuota(known, name));
  return explanation;
}

}  // namespace cnpa
