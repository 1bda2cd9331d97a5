// SPDX-License-Identifier: Apache-2.0
#include "app/pace.h"

#include <algorithm>

namespace cnpa {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestPause = std::chrono::seconds(30);
constexpr milliseconds kCredentialsAreOldAfter = std::chrono::minutes(5);
constexpr int kMostDoublings = 16;

}  // namespace

milliseconds ComputePause(milliseconds interval, int unreadable) {
  if (unreadable <= 1) return interval;
  const milliseconds stretched = interval * (1L << std::min(unreadable - 1, kMostDoublings));
  return std::max(interval, std::min(stretched, kLongestPause));
}

bool ShouldEndForCredentials(const RefusedCredentials& refused) {
  return refused.loaded_by_systemd && refused.running_for >= kCredentialsAreOldAfter;
}

}  // namespace cnpa
