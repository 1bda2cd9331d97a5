// SPDX-License-Identifier: Apache-2.0
//
// How events look on the wire. A process without memory finds the event that it has sent before by its name, which
// follows from what the event says: the first time it is made, then its count is raised. Of an event that is there the
// server lets nothing else be changed, so its words stay those of the first time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "core/objects/event.h"
#include "kube/http/transport.h"

namespace cnpa {

/// An event that is there.
struct EventSeries {
  std::string uid;
  std::optional<std::int64_t> count;  ///< Nothing: it happened once.

  bool operator==(const EventSeries&) const = default;
};

/// Returns the name of an event's object: the TeamSpace's, shortened where it must be, and a hash.
std::string EventName(const Event& event);

/// Returns where the event is read, and its count is raised. A TeamSpace is in no namespace, and so its events are in
/// `default`.
std::string EventPath(const Event& event);

/// Returns the request that makes the event. `instance` is the name of this machine or pod.
Request EncodeEvent(const Event& event, const std::string& instance, Time now);

/// Errors:  kMalformed.
Result<EventSeries> DecodeEvent(std::string text);

/// Returns the request that counts the event once more, if nobody did so since `observed`.
Request EncodeEventAgain(const Event& event, const EventSeries& observed, Time now);

}  // namespace cnpa
