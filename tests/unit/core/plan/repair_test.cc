// SPDX-License-Identifier: Apache-2.0
#include "core/plan/repair.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

const Writer kKubectl{"kubectl-patch", "Update", "", std::nullopt};
const std::string kLabelPath = "metadata.labels['platform.labhub.io/teamspace']";

constexpr std::array kDamages{"", "finalizer", "gone", "scoped"};

/// Returns "OBJECT PATH FROM->TO by MANAGER" or "OBJECT DAMAGE" of each repair of the one chain that `cluster` needs.
std::vector<std::string> RepairsIn(const Observation& cluster) {
  std::vector<std::string> told;
  for (const Chain& chain : ComputePlan(cluster).chains) {
    for (std::size_t i = 0; i < chain.changes.size(); ++i) {
      for (const Repair& repair : RepairsOf(chain, i)) {
        std::string text = repair.object.Text();
        if (!repair.field.path.empty()) {
          text += " " + repair.field.path + " " + repair.field.from.value_or("none") + "->";
          text += repair.field.to.value_or("none") + " by " + repair.manager();
        }
        if (repair.damage != Damage::kChanged)
          text += std::string(" ") + kDamages.at(static_cast<std::size_t>(repair.damage));
        told.push_back(text);
      }
    }
  }
  return told;
}

TEST_CASE("RepairsOf tells what others did from what a TeamSpace asks for", "[core][repair]") {
  struct Case {
    std::string name;
    std::function<void(Observation&)> change;
    std::vector<std::string> want;
  };
  const std::string quota = "ResourceQuota/team-red/team-quota";
  const std::vector<Case> cases{
      {"nothing", [](Observation&) {}, {}},
      {"a value that somebody changed",
       [](Observation& o) {
         o.quotas[0].hard["pods"] = "99";
         o.quotas[0].writers["spec.hard.pods"] = kKubectl;
       },
       {quota + " spec.hard.pods 99->6 by kubectl-patch"}},
      {"a value of which nobody knows who changed it",
       [](Observation& o) { o.quotas[0].hard["pods"] = "99"; },
       {quota + " spec.hard.pods 99->6 by "}},
      {"a key too few and one too many",
       [](Observation& o) {
         o.quotas[0].hard = {{"pods", "6"}, {"configmaps", "3"}};
         o.quotas[0].writers["spec.hard.configmaps"] = kKubectl;
       },
       {quota + " spec.hard.requests.cpu none->2 by ", quota + " spec.hard.configmaps 3->none by kubectl-patch"}},
      {"a newer spec alone", [](Observation& o) { o.team_spaces[0].generation = 2, o.team_spaces[0].pods = 9; }, {}},
      {"a newer spec, and another value that somebody changed",
       [](Observation& o) {
         o.team_spaces[0].generation = 2, o.team_spaces[0].pods = 9;
         o.quotas[0].hard["requests.cpu"] = "64";
         o.quotas[0].writers["spec.hard.requests.cpu"] = kKubectl;
       },
       {quota + " spec.hard.requests.cpu 64->2 by kubectl-patch"}},
      {"a newer spec, and a key that is gone",
       [](Observation& o) {
         o.team_spaces[0].generation = 2, o.team_spaces[0].pods = 9;
         o.quotas[0].hard.erase("requests.cpu");
       },
       {quota + " spec.hard.requests.cpu none->2 by "}},
      {"the quota is gone", [](Observation& o) { o.quotas.clear(); }, {quota + " gone"}},
      {"the quota has scopes",
       [](Observation& o) {
         o.quotas[0].scoped = true;
         o.quotas[0].scopes = "BestEffort";
         o.quotas[0].writers["spec.scopes"] = kKubectl;
       },
       {quota + " spec.scopes BestEffort->none by kubectl-patch scoped"}},
      {"the namespace is gone, and the quota with it",
       [](Observation& o) { o.namespaces.clear(), o.quotas.clear(); },
       {"Namespace/team-red gone"}},
      {"the label is another one",
       [](Observation& o) {
         o.namespaces[0].team_space_label = "blue";
         o.namespaces[0].writers[LabelPath()] = kKubectl;
       },
       {"Namespace/team-red " + kLabelPath + " blue->red by kubectl-patch"}},
      {"the owner is another one",
       [](Observation& o) { o.namespaces[0].owners = {OwnerOf("red", "uid-earlier")}; },
       {"Namespace/team-red metadata.ownerReferences uid-earlier->uid-red by "}},
      {"the finalizer is gone",
       [](Observation& o) { o.team_spaces[0].finalizers.clear(); },
       {"TeamSpace/red finalizer"}},
      {"the status says something else",
       [](Observation& o) { o.team_spaces[0].status.namespace_name = "elsewhere"; },
       {}},
      {"a new team space", [](Observation& o) { o = {.team_spaces = {NewTeamSpaceNamed("red")}}; }, {}},
      {"a new team space whose namespace somebody has made for it",
       [](Observation& o) {
         o.team_spaces = {NewTeamSpaceNamed("red")};
         o.namespaces[0].owners.clear();
         o.quotas[0].hard["pods"] = "99";
       },
       {}},
      {"a deletion", [](Observation& o) { o.team_spaces = {DeletedTeamSpaceNamed("red")}; }, {}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Observation cluster = ConvergedCluster({"red"});
      c.change(cluster);
      CHECK(RepairsIn(cluster) == c.want);
    }
  }
}

}  // namespace
}  // namespace cnpa
