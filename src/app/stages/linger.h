// SPDX-License-Identifier: Apache-2.0
//
// Sleeping on watches after a quiet pass, until there is something to do. What a watch says only wakes: nothing is
// written from it, so an event that is missed, doubled or late costs time and never correctness.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "app/stages/observe.h"
#include "core/objects/objects.h"
#include "kube/api/client.h"

namespace cnpa {

/// Why a pass that lingered went on.
enum class WakeCause {
  kSomethingToDo,
  kTimeOver,
  kWatchEnded,  ///< By the server or on the way; or it said what nobody understands.
  kForbidden,   ///< No permission to watch.
  kToldToEnd,
};

struct Wake {
  WakeCause cause = WakeCause::kTimeOver;
  std::string team_space;  ///< The only one for which there is something to do; empty: of several, or unknown.
  std::string words;       ///< What there is to say of it, for people.
  bool operator==(const Wake&) const = default;
};

struct LingerSetting {
  std::chrono::milliseconds most{0};  ///< How long at most.
  /// Returns whether a pass would write something, of an excerpt with what there is of one team space.
  std::function<bool(const Observation& excerpt)> has_work;
  std::function<Time()> now;
};

/// Watches the collections that `observation` was listed from, keeps it current with what happens, and returns as soon
/// as there is work, or no more can be learned. What comes with work within some milliseconds is waited for. An event
/// costs a look at the team space that it is about, whatever the number of the others.
///
/// Requires: a pass would write nothing for `observation`, whose lists are sorted. Nothing else is in flight. Nothing
/// can be sent afterwards: the pass's deadline is over then.
Wake Linger(Client& client, Observation observation, const ListVersions& versions, const LingerSetting& setting);

}  // namespace cnpa
