// SPDX-License-Identifier: Apache-2.0
#include "app/stages/turns.h"

#include <algorithm>

#include "core/plan/describe.h"

namespace cnpa {

Turns::Kind Turns::KindOf(const Chain& chain) {
  if (chain.changes.empty()) return Kind::kNothing;
  return ActionOf(chain.changes.front()) == Action::kArchive ? Kind::kArchive : Kind::kOther;
}

Turns::Turns(const Plan& plan, std::size_t concurrency, std::chrono::milliseconds for_archives,
             const std::vector<std::size_t>& order)
    : place_(plan.chains.size()), concurrency_(std::max<std::size_t>(concurrency, 1)), left_(for_archives) {
  for (const Chain& chain : plan.chains) kinds_.push_back(KindOf(chain));
  for (std::size_t place = 0; place < place_.size(); ++place) {
    const std::size_t i = order.empty() ? place : order[place];
    place_[i] = place;
    (kinds_[i] == Kind::kArchive ? archives_ : others_).push_back(i);
  }
}

std::optional<std::size_t> Turns::Next() {
  if (active_archives_ + active_others_ >= concurrency_) return std::nullopt;
  const bool is_first = !archives_.empty() && (others_.empty() || place_[archives_.front()] < place_[others_.front()]);
  if (is_first && MayArchive()) return TakeArchive();
  if (!others_.empty()) return TakeOther();
  return std::nullopt;
}

bool Turns::MayArchive() const {
  if (locked_) return false;
  if (debt_ >= kArchivesAtOnce && active_archives_ > 0) return false;
  if (left_.count() <= 0) return others_.empty() && active_others_ == 0;
  // A folder that hangs may take the whole pass, and each pass: one other chain at least is done before, and more of
  // them are on their way.
  const bool others_come_first = active_others_ > 0 || (!others_.empty() && concurrency_ > 1);
  return other_ended_ || !others_come_first;
}

std::optional<std::size_t> Turns::NextToGiveUp() {
  if (!archives_.empty()) return TakeArchive();
  if (!others_.empty()) return TakeOther();
  return std::nullopt;
}

std::size_t Turns::TakeArchive() {
  const std::size_t chain = archives_.front();
  archives_.pop_front();
  ++active_archives_;
  return chain;
}

std::size_t Turns::TakeOther() {
  const std::size_t chain = others_.front();
  others_.pop_front();
  ++active_others_;
  return chain;
}

void Turns::NoteArchive(std::chrono::milliseconds took) {
  left_ -= took;
  debt_ += took;
}

void Turns::PutBack(std::size_t chain) {
  archives_.push_front(chain);
  --active_archives_;
  locked_ = true;
}

void Turns::Ended(std::size_t chain) {
  --(kinds_[chain] == Kind::kArchive ? active_archives_ : active_others_);
  if (kinds_[chain] == Kind::kOther) other_ended_ = true;
  if (active_archives_ == 0) debt_ = std::chrono::milliseconds(0);
}

}  // namespace cnpa
