// SPDX-License-Identifier: Apache-2.0
#include "app/render/repair_words.h"

#include <string>
#include <vector>

#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("RepairWords and FightWords say what somebody did", "[app][repair_words]") {
  const ObjectRef quota{"ResourceQuota", "team-red", "team-quota"};
  const Writer helm{"helm", "Update", "", kNow};
  struct Case {
    Repair repair;
    std::string repaired;
    std::string contested;
  };
  const std::vector<Case> cases{
      {{Damage::kChanged, quota, {"spec.hard.pods", "99", "6", helm}},
       "pods 99 -> 6: was changed by helm",
       "helm sets spec.hard.pods of ResourceQuota/team-red/team-quota again and again"},
      {{Damage::kChanged, quota, {"spec.hard.configmaps", "1", std::nullopt, helm}},
       "configmaps 1 -> none: was changed by helm",
       "helm sets spec.hard.configmaps of ResourceQuota/team-red/team-quota again and again"},
      {{Damage::kChanged, quota, {"spec.hard.pods", "99", "6", Writer{"kubectl", "Apply", "", kNow}}},
       "pods 99 -> 6: was changed by kubectl (server-side apply)",
       "kubectl sets spec.hard.pods of ResourceQuota/team-red/team-quota again and again"},
      {{Damage::kChanged, quota, {"spec.hard.pods", std::nullopt, "6", {}, Absence{true, {kNow, {helm}}}}},
       "pods none -> 6: was removed, the server does not say by whom",
       "somebody removes spec.hard.pods of ResourceQuota/team-red/team-quota again and again"},
      {{Damage::kScoped, quota, {"spec.scopes", "BestEffort", std::nullopt, helm}},
       "had scopes, which narrow it, set by helm: re-created",
       "helm gives ResourceQuota/team-red/team-quota scopes again and again"},
      {{Damage::kChanged, quota, {"spec.hard.pods", std::nullopt, "6", {}}},
       "pods none -> 6",
       "somebody removes spec.hard.pods of ResourceQuota/team-red/team-quota again and again"},
      {{Damage::kReleased, {"TeamSpace", "", "red"}, {}},
       "finalizer platform.labhub.io/cleanup was removed: added again",
       "somebody takes the finalizer platform.labhub.io/cleanup off TeamSpace/red again and again"},
      {{Damage::kDeleted, {"Namespace", "", "team-red"}, {}},
       "was deleted: re-created",
       "somebody deletes Namespace/team-red again and again"},
      {{Damage::kScoped, quota, {}},
       "had scopes, which narrow it: re-created",
       "somebody gives ResourceQuota/team-red/team-quota scopes again and again"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.contested) {
      CHECK(RepairWords(c.repair) == c.repaired);
      CHECK(FightWords(c.repair) == c.contested);
    }
  }
}

}  // namespace
}  // namespace cnpa
