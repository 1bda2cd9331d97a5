// SPDX-License-Identifier: Apache-2.0
//
// What the records of earlier passes share: their entries end after a while, and the oldest makes room for a new one.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/time.h"

namespace cnpa {

/// Returns whether `entry`, noted at its `last`, is over at `now`. A clock may have been set back since: what is from
/// far beyond `now` says nothing.
template <typename Entry, typename Window>
bool IsOver(const Entry& entry, Time now, Window window) {
  return now - entry.last > window || entry.last - now > window;
}

/// Removes the entry whose `last` is the longest ago from a map that has `most` of them.
template <typename Map>
void MakeRoom(Map& entries, std::size_t most) {
  if (entries.size() < most) return;
  entries.erase(std::min_element(entries.begin(), entries.end(), [](const auto& left, const auto& right) {
    return left.second.last < right.second.last;
  }));
}

}  // namespace cnpa
