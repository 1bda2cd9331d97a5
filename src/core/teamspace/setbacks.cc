// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/setbacks.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/masked.h"
#include "base/text.h"
#include "core/plan/describe.h"
#include "core/plan/failure.h"
#include "core/plan/recent.h"
#include "core/teamspace/plan.h"

namespace cnpa {
namespace {

using std::chrono::seconds;

constexpr seconds kFirstPause{10};
constexpr seconds kLongestPause{300};
constexpr int kMostDoublings = 5;  // 320 s.

std::string WordsOf(const Error& error) {
  return Shortened(Masked(error.message), kLongestSetback - kDots.size());
}

/// How long after its last try the next one comes.
seconds PauseAfter(std::uint64_t tries) {
  const auto doublings = std::min<std::uint64_t>(tries - 1, kMostDoublings);
  return std::min(kFirstPause * (std::int64_t{1} << doublings), kLongestPause);
}

/// Returns what `change` sets of an object that is there. One that is not there was not kept in any form.
std::vector<FieldChange> SentFields(const Chain& chain, const Change& change) {
  if (ActionOf(change) == Action::kCreate) return change.fields;
  return Describe(chain, change).fields;
}

/// Returns which change of `chain` the server would change again: all that it sets is what was changed last time.
std::optional<std::size_t> FindAltered(const Chain& chain, const Setback& setback) {
  for (std::size_t i = 0; i < chain.changes.size(); ++i) {
    const Change& change = chain.changes[i];
    const std::vector<std::string> keys = AlterationKeys(ObjectOf(chain, change), SentFields(chain, change));
    const bool same = !keys.empty() && std::all_of(keys.begin(), keys.end(), [&setback](const std::string& key) {
      return std::find(setback.altered.begin(), setback.altered.end(), key) != setback.altered.end();
    });
    if (same) return i;
  }
  return std::nullopt;
}

/// Ends `chain` in front of change `index`, with what its failure meant.
void CutShort(Chain& chain, std::size_t index, Time now) {
  const Change& change = chain.changes[index];
  const std::optional<Refusal> refusal =
      ClassifyFailure(chain, change, AlterationError(ObjectOf(chain, change), SentFields(chain, change)));
  std::optional<Change> status = ComputeRefusedStatus(chain, index, *refusal, now);
  chain.refusal = refusal;
  chain.changes.resize(chain.deleting ? 0 : index);  // An archive is written for the finalizer's sake.
  if (status) chain.changes.push_back(*std::move(status));
}

/// Returns a number that has nothing to do with the one before.
///
/// Source:  the finalizer of MurmurHash3, as in Steele, Lea, Flood: SplitMix.
std::uint64_t Mixed(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

std::vector<std::size_t> PlanOrder(const Plan& plan) {
  std::vector<std::size_t> order(plan.chains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

}  // namespace

void SetbackRecord::Note(const std::string& uid, const Error& error, std::vector<std::string> altered, Time now) {
  auto found = entries_.find(uid);
  if (found == entries_.end()) {
    if (entries_.size() >= kMostEntries) return;  // Entries that evict each other would count nothing.
    found = entries_.emplace(uid, Setback{.first = now, .last = now}).first;
  }
  Setback& setback = found->second;
  std::string words = WordsOf(error);
  if (setback.words != words || IsOver(setback, now, kSetbackWindow)) {
    setback = {.words = std::move(words), .altered = {}, .count = 0, .first = now, .last = now};
  }
  setback.altered = std::move(altered);
  ++setback.count;
  setback.first = std::min(setback.first, now);
  setback.last = now;
}

void SetbackRecord::Expire(Time now) {
  std::erase_if(entries_, [now](const auto& entry) { return IsOver(entry.second, now, kSetbackWindow); });
}

void SetbackRecord::KeepThoseOf(const Plan& plan, const std::vector<std::string>& others) {
  if (entries_.empty()) return;
  std::set<std::string_view> uids(others.begin(), others.end());
  for (const Chain& chain : plan.chains) uids.insert(chain.uid);
  std::erase_if(entries_, [&uids](const auto& entry) { return !uids.contains(entry.first); });
}

void SetbackRecord::Put(std::string uid, Setback setback) {
  if (entries_.size() < kMostEntries) entries_.emplace(std::move(uid), std::move(setback));
}

const Setback* SetbackRecord::Find(const std::string& uid) const {
  const auto found = entries_.find(uid);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<std::string> AlterationKeys(const ObjectRef& object, const std::vector<FieldChange>& altered) {
  std::vector<std::string> keys;
  keys.reserve(altered.size());
  const auto text = [](const std::optional<std::string>& value) { return value ? "\"" + *value + "\"" : "-"; };
  for (const FieldChange& field : altered) {
    keys.push_back(object.Text() + " " + field.path + " " + text(field.from) + " " + text(field.to));
  }
  return keys;
}

std::vector<std::size_t> ComputeBeginOrder(const Plan& plan, const SetbackRecord& setbacks) {
  std::vector<std::size_t> order = PlanOrder(plan);
  if (setbacks.entries().empty()) return order;
  std::vector<std::optional<Time>> failed(plan.chains.size());  // Nothing sorts first.
  for (std::size_t i = 0; i < failed.size(); ++i) {
    if (const Setback* setback = setbacks.Find(plan.chains[i].uid)) failed[i] = setback->last;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&failed](std::size_t left, std::size_t right) { return failed[left] < failed[right]; });
  return order;
}

std::vector<std::size_t> ComputeRotatedOrder(const Plan& plan) {
  std::vector<std::size_t> order = PlanOrder(plan);
  if (order.empty()) return order;
  const auto now = static_cast<std::uint64_t>(plan.computed_at.time_since_epoch().count());
  const auto first = static_cast<std::ptrdiff_t>(Mixed(now) % order.size());
  std::rotate(order.begin(), order.begin() + first, order.end());
  return order;
}

std::vector<std::string> HoldBack(const SetbackRecord& setbacks, Plan& plan) {
  std::vector<std::string> held;
  for (Chain& chain : plan.chains) {
    const Setback* setback = setbacks.Find(chain.uid);
    if (setback == nullptr || setback->altered.empty()) continue;
    if (plan.computed_at - setback->last >= PauseAfter(setback->count)) continue;
    const std::optional<std::size_t> altered = FindAltered(chain, *setback);
    if (!altered) continue;
    CutShort(chain, *altered, plan.computed_at);
    held.push_back(chain.uid);
  }
  return held;
}

std::optional<Refusal> ClassifyLostRace(const Setback* setback, const Error& error) {
  if (setback == nullptr || setback->count + 1 < kPassesOfLostRace || setback->words != WordsOf(error)) {
    return std::nullopt;
  }
  return Refusal{Reason::kWriteFailed,
                 "the same write fails in every pass, as if somebody else were always faster; a cluster admin can find "
                 "out who: " +
                     error.message};
}

}  // namespace cnpa
