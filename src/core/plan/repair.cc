// SPDX-License-Identifier: Apache-2.0
#include "core/plan/repair.h"

#include <optional>
#include <utility>

#include "base/overloaded.h"

namespace cnpa {
namespace {

/// A value that we wrote ourselves differs from a newer spec because of that spec.
bool FollowsFromSpec(const Chain& chain, const FieldChange& field) {
  const bool newer_spec = chain.observed_status.observed_generation != chain.generation;
  return newer_spec && field.from && !field.writer;
}

std::vector<Repair> FieldRepairs(const Chain& chain, const Change& change, const ObjectRef& object) {
  std::vector<Repair> repairs;
  for (const FieldChange& field : change.fields) {
    if (!FollowsFromSpec(chain, field)) repairs.push_back({Damage::kChanged, object, field, field.contested});
  }
  return repairs;
}

std::vector<Repair> QuotaMadeAnew(const Chain& chain, std::size_t index, const ObjectRef& quota) {
  // In a namespace that is made anew itself, a quota is no news.
  if (!chain.namespace_name) return {};
  Repair repair{Damage::kDeleted, quota, {}, chain.changes[index].contested};
  if (index > 0 && std::holds_alternative<DeleteQuota>(chain.changes[index - 1].effect)) {
    repair.damage = Damage::kScoped;
    const std::vector<FieldChange>& scopes = chain.changes[index - 1].fields;
    if (!scopes.empty()) repair.field = scopes.front();
  }
  return {repair};
}

}  // namespace

std::vector<Repair> RepairsOf(const Chain& chain, std::size_t index) {
  if (chain.deleting || !chain.observed_status.observed_generation) return {};
  using Repairs = std::vector<Repair>;
  const Change& change = chain.changes[index];
  const ObjectRef object = ObjectOf(chain, change);
  return std::visit(Overloaded{[&](const AddFinalizer&) {
                                 return Repairs{{Damage::kReleased, object, {}, change.contested}};
                               },
                               [&](const CreateNamespace&) {
                                 return Repairs{{Damage::kDeleted, object, {}, change.contested}};
                               },
                               [&](const RepairNamespace&) { return FieldRepairs(chain, change, object); },
                               [&](const CreateQuota&) { return QuotaMadeAnew(chain, index, object); },
                               [&](const RepairQuota&) { return FieldRepairs(chain, change, object); },
                               [](const auto&) { return Repairs{}; }},
                    change.effect);
}

}  // namespace cnpa
