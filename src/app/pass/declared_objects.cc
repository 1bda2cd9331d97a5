// SPDX-License-Identifier: Apache-2.0
#include "app/pass/declared_objects.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/stages/managed_crd.h"
#include "core/plan/describe.h"
#include "core/teamspace/setbacks.h"

namespace cnpa {

bool Creates(const Plan& declared) {
  return std::any_of(declared.chains.begin(), declared.chains.end(),
                     [](const Chain& set) { return Has(set, Action::kCreate); });
}

Result<Plan> DeclaredObjects::Compute() {
  Plan plan{.chains = {}, .team_spaces = 0, .computed_at = now_()};
  if (!options_.manage_crd) return plan;
  Result<CrdPlan> crd = PlanCrd(client_, {options_.installation});
  if (!crd) return tl::unexpected<Error>(crd.error());
  if (!crd->unknown.empty()) {
    log_.Warn(fmt::format("the TeamSpace CRD has what this version does not know, and is left alone: {}",
                          fmt::join(crd->unknown, ", ")));
  }
  plan.chains = std::move(crd->sets);
  return plan;
}

Status DeclaredObjects::Keep(Memory& memory, Archive& archive, const OnChain& on_set) {
  Result<Plan> plan = Compute();
  if (!plan) return tl::unexpected<Error>(plan.error());
  plan_ = *std::move(plan);
  if (plan_.chains.empty()) return {};
  const std::vector<std::string> held = HoldBack(memory.setbacks(plan_.computed_at), plan_);
  report_ = Apply(plan_, client_, archive, 1, on_set);
  memory.Note(plan_, report_, {.held = held, .of_all = false});
  created_ = Creates(plan_) && std::any_of(report_.chains.begin(), report_.chains.end(),
                                           [](const ChainReport& done) { return done.end == ChainEnd::kComplete; });
  return {};
}

std::vector<std::string> DeclaredObjects::uids() const {
  std::vector<std::string> uids;
  uids.reserve(plan_.chains.size());
  for (const Chain& set : plan_.chains) uids.push_back(set.uid);
  return uids;
}

void DeclaredObjects::AddTo(Complaints& complaints, const Renderer& renderer) const {
  for (std::size_t i = 0; i < plan_.chains.size(); ++i) complaints.Add(plan_.chains[i], report_.chains[i], renderer);
}

}  // namespace cnpa
