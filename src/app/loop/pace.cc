// SPDX-License-Identifier: Apache-2.0
#include "app/loop/pace.h"

#include <algorithm>

namespace cnpa {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestPause = std::chrono::seconds(30);
constexpr milliseconds kKubeconfigIsOldAfter = std::chrono::minutes(5);
constexpr milliseconds kLongestUnread = std::chrono::minutes(10);
constexpr int kMostDoublings = 16;

}  // namespace

milliseconds ComputePause(milliseconds interval, int unreadable) {
  if (unreadable <= 1) return interval;
  const milliseconds stretched = interval * (1L << std::min(unreadable - 1, kMostDoublings));
  return std::max(interval, std::min(stretched, kLongestPause));
}

bool ShouldEndForKubeconfig(const Unread& unread) {
  if (!unread.loaded_by_systemd || unread.running_for < kKubeconfigIsOldAfter) return false;
  return unread.refused || unread.unread_for >= kLongestUnread;
}

}  // namespace cnpa
