// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/kept.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/overloaded.h"
#include "core/teamspace/plan_objects.h"
#include "core/teamspace/status.h"

namespace cnpa {
namespace {

using Fields = std::vector<FieldChange>;

void CompareOwner(const Namespace& kept, const OwnerReference& sent, Fields& altered) {
  const auto ours = std::find_if(kept.owners.begin(), kept.owners.end(),
                                 [&sent](const OwnerReference& owner) { return owner.uid == sent.uid; });
  if (ours == kept.owners.end()) {
    altered.push_back({.path = std::string(kOwnersPath), .to = sent.uid});
  } else if (*ours != sent) {
    altered.push_back({.path = std::string(kOwnersPath), .from = OwnerText(*ours), .to = OwnerText(sent)});
  }
}

Fields AlterationsOf(const Chain& chain, const Namespace& kept, const OwnerReference& sent) {
  Fields altered;
  if (kept.team_space_label != chain.name) {
    altered.push_back({.path = LabelPath(), .from = kept.team_space_label, .to = chain.name});
  }
  CompareOwner(kept, sent, altered);
  return altered;
}

Fields AlterationsOf(const Quota& kept, const std::map<std::string, std::string>& sent) {
  Fields altered = CompareHard(kept.hard, sent);
  if (kept.scoped) altered.push_back({.path = std::string(kScopesPath), .from = kept.scopes});
  return altered;
}

/// The time of a transition is carried over as it is kept, so it is nothing that could be put right.
Fields AlterationsOf(const TeamSpaceStatus& kept, const TeamSpaceStatus& sent) {
  std::optional<Change> change = StatusChange(kept, sent);
  return change ? std::move(change->fields) : Fields{};
}

std::string Quoted(const std::optional<std::string>& value) {
  return value ? "'" + *value + "'" : "nothing";
}

}  // namespace

Fields FieldsOf(const Change& change) {
  const std::string path(kFinalizersPath);
  const std::string ours(kFinalizer);
  if (std::holds_alternative<AddFinalizer>(change.effect)) return {{.path = path, .to = ours}};
  if (std::holds_alternative<RemoveFinalizer>(change.effect)) return {{.path = path, .from = ours}};
  return change.fields;
}

Fields ComputeAlterations(const Chain& chain, const Change& change, const Kept& kept) {
  const auto* team_space = std::get_if<TeamSpace>(&kept);
  const auto* space = std::get_if<Namespace>(&kept);
  const auto* quota = std::get_if<Quota>(&kept);
  const auto finalizer = [&](bool wanted) {
    return team_space != nullptr && HasFinalizer(*team_space) != wanted ? FieldsOf(change) : Fields{};
  };
  const auto owner = [&](const OwnerReference& sent) {
    return space != nullptr ? AlterationsOf(chain, *space, sent) : Fields{};
  };
  const auto hard = [&](const std::map<std::string, std::string>& sent) {
    return quota != nullptr ? AlterationsOf(*quota, sent) : Fields{};
  };
  return std::visit(
      Overloaded{[&](const AddFinalizer&) { return finalizer(true); },
                 [&](const RemoveFinalizer&) { return finalizer(false); },
                 [&](const CreateNamespace& effect) { return owner(effect.owner); },
                 [&](const RepairNamespace& effect) { return owner(effect.owner); },
                 [&](const CreateQuota& effect) { return hard(effect.hard); },
                 [&](const RepairQuota& effect) { return hard(effect.hard); },
                 [&](const WriteStatus& effect) {
                   return team_space != nullptr ? AlterationsOf(team_space->status, effect.desired) : Fields{};
                 },
                 [](const DeleteQuota&) { return Fields{}; }, [](const WriteArchive&) { return Fields{}; }},
      change.effect);
}

Error AlterationError(const ObjectRef& object, const Fields& altered) {
  std::string message = object.Text() + ": ";
  const char* separator = "";
  for (const FieldChange& field : altered) {
    message += std::exchange(separator, ", ") + field.path + " was sent as " + Quoted(field.to) + " and kept as " +
               Quoted(field.from);
  }
  return {ErrorCode::kInvalid, message + ": an admission policy or webhook changes it"};
}

}  // namespace cnpa
