// SPDX-License-Identifier: Apache-2.0
//
// When the loop goes on, and when it ends itself: pure.
#pragma once

#include <chrono>

namespace cnpa {

/// Returns how long to wait before the next pass when the last `unreadable` ones could not read the cluster: the
/// interval, twice that, and so on up to 30 s, or the interval if that is longer.
std::chrono::milliseconds ComputePause(std::chrono::milliseconds interval, int unreadable);

/// What is known when the server has taken no credentials of ours.
struct RefusedCredentials {
  bool loaded_by_systemd = false;         ///< A copy of the start: only another start reads the file again.
  std::chrono::milliseconds running_for;  ///< Since the supervisor started.
};

/// Returns whether to end, for a service manager to start us anew with the credentials that are there now. Not soon
/// after a start: those were new, and others are not there yet.
bool ShouldEndForCredentials(const RefusedCredentials& refused);

}  // namespace cnpa
