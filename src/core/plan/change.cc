// SPDX-License-Identifier: Apache-2.0
#include "core/plan/change.h"

#include <algorithm>

#include "base/overloaded.h"

namespace cnpa {

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

}  // namespace cnpa
