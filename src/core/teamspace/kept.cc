// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/kept.h"

#include <algorithm>
#include <optional>
#include <utility>

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

}  // namespace

Fields AlterationsOf(const TeamSpace& kept, bool finalizer_sent) {
  if (HasFinalizer(kept) == finalizer_sent) return {};
  const std::string path(kFinalizersPath);
  const std::string ours(kFinalizer);
  if (finalizer_sent) return {{.path = path, .to = ours}};
  return {{.path = path, .from = ours}};
}

Fields AlterationsOf(const Namespace& kept, const std::string& label, const OwnerReference& owner) {
  Fields altered;
  if (kept.team_space_label != label) {
    altered.push_back({.path = LabelPath(), .from = kept.team_space_label, .to = label});
  }
  CompareOwner(kept, owner, altered);
  return altered;
}

Fields AlterationsOf(const Quota& kept, const std::map<std::string, std::string>& hard) {
  Fields altered = CompareHard(kept.hard, hard);
  if (kept.scoped) altered.push_back({.path = std::string(kScopesPath), .from = kept.scopes});
  return altered;
}

Fields AlterationsOf(const TeamSpaceStatus& kept, const TeamSpaceStatus& sent) {
  std::optional<Change> change = StatusChange(kept, sent);
  return change ? std::move(change->fields) : Fields{};
}

}  // namespace cnpa
