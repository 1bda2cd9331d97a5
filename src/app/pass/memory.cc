// SPDX-License-Identifier: Apache-2.0
#include "app/pass/memory.h"

#include <algorithm>

namespace cnpa {

PassMemory& Memory::At(Time now) {
  if (memory_) return *memory_;
  memory_.emplace();
  if (folder_.empty()) {
    log_.Debug("no folder to remember passes in: no fight with another writer is recognised");
    return *memory_;
  }
  Result<PassMemory> earlier = LoadMemory(folder_);
  if (!earlier) {
    log_.Debug("earlier passes are forgotten: " + earlier.error().message);
    return *memory_;
  }
  kept_ = *std::move(earlier);
  memory_ = kept_;
  memory_->repairs.Expire(now);
  memory_->setbacks.Expire(now);
  return *memory_;
}

void Memory::Note(const Plan& plan, const Report& report, const PassScope& scope) {
  SetbackRecord& setbacks = At(plan.computed_at).setbacks;
  if (scope.of_all) setbacks.KeepThoseOf(plan, scope.others);
  for (std::size_t i = 0; i < plan.chains.size(); ++i) {
    const Chain& chain = plan.chains[i];
    const ChainReport& done = report.chains[i];
    if (std::find(scope.held.begin(), scope.held.end(), chain.uid) != scope.held.end()) continue;
    if (done.end == ChainEnd::kComplete) setbacks.Clear(chain.uid);
    if (done.end != ChainEnd::kFailed && done.end != ChainEnd::kLostRace) continue;
    const ObjectRef object = ObjectOf(chain, chain.changes[done.done]);
    setbacks.Note(chain.uid, done.error, AlterationKeys(object, done.altered), plan.computed_at);
  }
}

void Memory::Save(Time now) {
  if (!memory_ || folder_.empty()) return;
  memory_->repairs.Expire(now);
  memory_->setbacks.Expire(now);
  if (*memory_ == kept_) return;
  const Status saved = SaveMemory(folder_, *memory_);
  if (!saved) return log_.Debug("this pass is not remembered: " + saved.error().message);
  kept_ = *memory_;
}

}  // namespace cnpa
