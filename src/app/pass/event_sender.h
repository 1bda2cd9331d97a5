// SPDX-License-Identifier: Apache-2.0
//
// Sends events, once all else of a pass is done. None of them matters enough to wait for, or to fail for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/output/log.h"
#include "base/time.h"
#include "core/objects/event.h"
#include "kube/api/client.h"

namespace cnpa {

/// So many of a pass are sent; a cluster in which more happens at once is told by its log.
inline constexpr std::size_t kMostEvents = 100;

struct EventSender {
  Client& client;
  const Log& log;
  std::size_t concurrency = 1;  ///< Events on their way at once.
  std::string instance;         ///< The name of this machine or pod.

  /// Sends `events` side by side, each but once, also where two are alike; what is there already is counted once more.
  /// After the first one that the server has no time or no right for, and once the pass shall end, no other is begun.
  void Send(const std::vector<Event>& events, Time now) const;
};

}  // namespace cnpa
