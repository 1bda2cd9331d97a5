// SPDX-License-Identifier: Apache-2.0
#include "core/plan/change.h"

#include <algorithm>

namespace cnpa {

bool Plan::empty() const {
  return std::all_of(chains.begin(), chains.end(), [](const Chain& chain) { return chain.changes.empty(); });
}

ObjectRef SubjectOf(const Chain& chain) {
  return chain.subject ? *chain.subject : ObjectRef{std::string(kTeamSpaceKind), "", chain.name};
}

}  // namespace cnpa
