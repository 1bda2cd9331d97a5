// SPDX-License-Identifier: Apache-2.0
#include "core/plan/repair.h"

namespace cnpa {
namespace {

/// A value that we wrote ourselves differs from a newer spec because of that spec.
bool FollowsFromSpec(const Chain& chain, const FieldChange& field) {
  const bool newer_spec = !chain.subject && chain.observed_status.observed_generation != chain.generation;
  return newer_spec && field.from && !field.writer;
}

std::vector<Repair> FieldRepairs(const Chain& chain, const Change& change, const ObjectRef& object) {
  std::vector<Repair> repairs;
  for (const FieldChange& field : change.fields) {
    if (!FollowsFromSpec(chain, field)) repairs.push_back({Damage::kChanged, object, field, field.contested});
  }
  return repairs;
}

/// Returns the change in front of `index` that deletes the object which that one creates again; null: none does.
const Change* DeletionBefore(const Chain& chain, std::size_t index, const ObjectRef& object) {
  if (index == 0) return nullptr;
  const Change& before = chain.changes[index - 1];
  return ActionOf(before) == Action::kDelete && ObjectOf(chain, before) == object ? &before : nullptr;
}

std::vector<Repair> ObjectRepair(const Chain& chain, std::size_t index, const Description& change) {
  // In a namespace that is created with it, an object is no news.
  if (!change.object.namespace_name.empty() && NamespaceCreated(chain, index)) return {};
  Repair repair{*change.damage, change.object, {}, chain.changes[index].contested};
  if (const Change* deletion = DeletionBefore(chain, index, change.object)) {
    repair.damage = Damage::kScoped;
    if (!deletion->fields.empty()) repair.field = deletion->fields.front();
  }
  return {repair};
}

}  // namespace

std::vector<Repair> RepairsOf(const Chain& chain, std::size_t index) {
  if (chain.deleting || (!chain.subject && !chain.observed_status.observed_generation)) return {};
  const Change& change = chain.changes[index];
  const Description description = Describe(chain, change);
  if (!description.damage) return {};
  if (description.damage == Damage::kChanged) return FieldRepairs(chain, change, description.object);
  return ObjectRepair(chain, index, description);
}

}  // namespace cnpa
