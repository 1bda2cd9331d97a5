// SPDX-License-Identifier: Apache-2.0
#include "core/plan/declared.h"

#include <algorithm>
#include <utility>

#include "core/plan/compare.h"

namespace cnpa {
namespace {

constexpr const char* kManager = "cnpa-op";

Chain SetFor(const Resource& resource, const std::string& name, const std::string& uid) {
  Chain set{.name = name, .uid = uid};
  set.subject = ObjectRef{std::string(resource.kind), "", name};
  set.crd = {.has_status = false};
  return set;
}

void PlanRepair(const ObservedObject& observed, const DeclaredObject& desired, const Mark& mark, Chain& set) {
  const auto other = observed.labels.find(kInstallationLabel);
  const auto managed_by = observed.labels.find(kManagedByLabel);
  const bool marked = other != observed.labels.end() && managed_by != observed.labels.end();
  if (marked && managed_by->second == kManager && other->second != mark.installation) {
    set.refusal = Refusal{Reason::kNotOurs, "it is kept by the installation '" + other->second +
                                                "': give this one "
                                                "another --installation, or stop one of them"};
    return;
  }
  if (observed.deleting) {
    set.refusal = Refusal{Reason::kObjectTerminating, "it is being deleted; it is re-created once it is gone"};
    return;
  }
  std::vector<FieldChange> fields = CompareObjects(observed, desired);
  if (fields.empty()) return;
  PatchObject patch{desired, observed.uid, observed.resource_version, observed.labels.empty()};
  set.changes.push_back({std::move(patch), Cause::kDiffers, std::move(fields)});
}

const ObservedObject* Find(std::span<const ObservedObject> observed, const DeclaredObject& desired) {
  const auto found = std::find_if(observed.begin(), observed.end(), [&desired](const ObservedObject& object) {
    return object.resource == desired.resource && object.name == desired.name;
  });
  return found == observed.end() ? nullptr : &*found;
}

bool IsDesired(const ObservedObject& observed, std::span<const DeclaredObject> desired) {
  return std::any_of(desired.begin(), desired.end(), [&observed](const DeclaredObject& object) {
    return object.resource == observed.resource && object.name == observed.name;
  });
}

}  // namespace

Labels Mark::labels() const {
  return {{kManagedByLabel, kManager}, {kInstallationLabel, installation}};
}

bool Mark::IsOn(const Labels& labels) const {
  const Labels ours = this->labels();
  return std::all_of(ours.begin(), ours.end(), [&labels](const auto& label) {
    const auto found = labels.find(label.first);
    return found != labels.end() && found->second == label.second;
  });
}

std::vector<Chain> ComputeDeclared(std::span<const ObservedObject> observed, std::span<const DeclaredObject> desired,
                                   const Mark& mark) {
  std::vector<Chain> sets;
  for (const DeclaredObject& declared : desired) {
    DeclaredObject object = declared;
    object.labels.merge(mark.labels());
    const ObservedObject* there = Find(observed, object);
    Chain set = SetFor(object.resource, object.name, there != nullptr ? there->uid : "");
    if (there != nullptr) {
      PlanRepair(*there, object, mark, set);
    } else {
      set.turn = Turn::kNew;
      set.changes.push_back({CreateObject{std::move(object)}, Cause::kMissing, {}});
    }
    if (!set.changes.empty() || set.refusal) sets.push_back(std::move(set));
  }
  for (const ObservedObject& object : observed) {
    if (IsDesired(object, desired) || object.deleting || !mark.IsOn(object.labels)) continue;
    Chain set = SetFor(object.resource, object.name, object.uid);
    set.changes.push_back({DeleteObject{object.resource, object.name, object.uid}, Cause::kNotDeclared, {}});
    sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace cnpa
