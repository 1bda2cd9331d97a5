// SPDX-License-Identifier: Apache-2.0
//
// Objects as they are when all is well. A case says what is different about it.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "base/time.h"
#include "core/objects/objects.h"

namespace cnpa {

inline constexpr Time kNow{std::chrono::sys_days(std::chrono::year(2031) / 5 / 6) + std::chrono::hours(7) +
                           std::chrono::minutes(8) + std::chrono::seconds(9)};
inline const std::string kNowText = "2031-05-06T07:08:09Z";
inline const std::string kEarlierText = "2031-01-02T03:04:05Z";

/// The `Ready` of a team space that was reconciled at kEarlierText.
inline Condition ReadyOf(const std::string& name, std::int64_t generation = 1) {
  return {.type = "Ready",
          .status = "True",
          .observed_generation = generation,
          .last_transition_time = kEarlierText,
          .reason = "Reconciled",
          .message = "namespace team-" + name + " and its quota are as specified"};
}

/// A team space with 6 pods and 2 CPUs to which nothing is to be done.
inline TeamSpace TeamSpaceNamed(const std::string& name) {
  return {.name = name,
          .uid = "uid-" + name,
          .generation = 1,
          .deletion_timestamp = {},
          .finalizers = {std::string(kFinalizer)},
          .pods = 6,
          .cpu = "2",
          .status = {.present = true,
                     .observed_generation = 1,
                     .namespace_name = "team-" + name,
                     .namespace_uid = "uid-team-" + name,
                     .has_conditions = true,
                     .ready = ReadyOf(name)},
          .archived = {},
          .writers = {},
          .trace = {},
          .status_trace = {},
          .unreadable = {}};
}

/// A team space as a user has just made it.
inline TeamSpace NewTeamSpaceNamed(const std::string& name) {
  TeamSpace team_space = TeamSpaceNamed(name);
  team_space.finalizers.clear();
  team_space.status = {};
  return team_space;
}

inline TeamSpace DeletedTeamSpaceNamed(const std::string& name) {
  TeamSpace team_space = TeamSpaceNamed(name);
  team_space.deletion_timestamp = kEarlierText;
  team_space.generation = 2;
  return team_space;
}

inline OwnerReference OwnerOf(const std::string& name, const std::string& uid = {}) {
  return {std::string(kTeamSpaceApiVersion), std::string(kTeamSpaceKind), name, uid.empty() ? "uid-" + name : uid};
}

inline Namespace NamespaceFor(const std::string& name) {
  return {.name = "team-" + name,
          .uid = "uid-team-" + name,
          .terminating = false,
          .team_space_label = name,
          .owners = {OwnerOf(name)},
          .writers = {},
          .trace = {},
          .unreadable = {}};
}

/// A namespace of somebody else.
inline Namespace ForeignNamespaceFor(const std::string& name) {
  Namespace space = NamespaceFor(name);
  space.uid = "uid-foreign-" + name;
  space.team_space_label = std::nullopt;
  space.owners.clear();
  return space;
}

inline Quota QuotaFor(const std::string& name) {
  return {.namespace_name = "team-" + name,
          .uid = "uid-quota-" + name,
          .hard = {{"pods", "6"}, {"requests.cpu", "2"}},
          .scoped = false,
          .scopes = {},
          .terminating = false,
          .finalizers = {},
          .writers = {},
          .trace = {},
          .unreadable = {}};
}

/// A cluster in which all of these are as they should be.
inline Observation ConvergedCluster(std::initializer_list<std::string> names) {
  Observation observation{.team_spaces = {}, .namespaces = {}, .quotas = {}, .crd = {}, .observed_at = kNow};
  for (const std::string& name : names) {
    observation.team_spaces.push_back(TeamSpaceNamed(name));
    observation.namespaces.push_back(NamespaceFor(name));
    observation.quotas.push_back(QuotaFor(name));
  }
  return observation;
}

}  // namespace cnpa
