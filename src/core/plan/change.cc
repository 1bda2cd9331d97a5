// SPDX-License-Identifier: Apache-2.0
#include "core/plan/change.h"

#include <algorithm>

namespace cnpa {

bool Plan::empty() const {
  return std::all_of(chains.begin(), chains.end(), [](const Chain& chain) { return chain.changes.empty(); });
}

std::string_view CauseName(Cause cause) {
  switch (cause) {
    case Cause::kMissing: return "Missing";
    case Cause::kDiffers: return "Differs";
    case Cause::kScoped: return "Scoped";
    case Cause::kBehind: return "StatusBehind";
    case Cause::kBeingDeleted: return "BeingDeleted";
    case Cause::kNotDeclared: return "NotDeclared";
  }
  return "";
}

ObjectRef SubjectOf(const Chain& chain) {
  return chain.subject ? *chain.subject : ObjectRef{std::string(kTeamSpaceKind), "", chain.name};
}

}  // namespace cnpa
