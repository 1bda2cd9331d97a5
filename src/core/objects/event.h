// SPDX-License-Identifier: Apache-2.0
//
// What a person finds behind `kubectl describe teamspace`: one thing that was done, or refused, and why.
#pragma once

#include <string>

#include "core/objects/objects.h"

namespace cnpa {

/// An event on a TeamSpace. It tells of no time: when it happened, and how often, is the server's to keep.
///
/// Source:  events.k8s.io/v1, Event.
struct Event {
  std::string team_space;
  std::string uid;       ///< Of the TeamSpace.
  bool warning = false;  ///< Else it is normal.
  std::string reason;    ///< "Repaired", or the reason of a refusal.
  std::string action;    ///< What was done: "Repair".
  std::string note;      ///< For people, at most kLongestNote.
  ObjectRef related;     ///< What else it is about.
  std::string identity;  ///< What tells it from others of its reason and action; those alike become one with a count.

  bool operator==(const Event&) const = default;
};

/// Source:  k8s.io/kubernetes/pkg/apis/core/validation/events.go, NoteLengthLimit.
inline constexpr std::size_t kLongestNote = 1024;

}  // namespace cnpa
