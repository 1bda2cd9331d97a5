// SPDX-License-Identifier: Apache-2.0
//
// When the loop goes on, and when it ends itself: pure.
#pragma once

#include <chrono>

namespace cnpa {

/// Returns how long to wait before the next pass when the last `unreadable` ones could not read the cluster: the
/// interval, twice that, and so on up to 30 s, or the interval if that is longer.
std::chrono::milliseconds ComputePause(std::chrono::milliseconds interval, int unreadable);

/// What is known when a pass could not read the cluster.
struct Unread {
  bool loaded_by_systemd = false;         ///< The kubeconfig is a copy of the start: only another start reads the file.
  bool refused = false;                   ///< The server took no credentials of ours.
  std::chrono::milliseconds running_for;  ///< Since the supervisor started.
  std::chrono::milliseconds unread_for;   ///< Since the first of the passes in a row that could read nothing.
};

/// Returns whether to end, for a service manager to start us anew with the kubeconfig that is there now. Not soon after
/// a start: that one was new, and another is not there yet. An authority or an address that has changed looks like a
/// server that is away, so this is done for whatever reason, but then not before it has lasted.
bool ShouldEndForKubeconfig(const Unread& unread);

}  // namespace cnpa
