// SPDX-License-Identifier: Apache-2.0
//
// The rights that cnpa-op needs, one by one. The manifest that grants them is examples/rbac.yaml.
#pragma once

#include <array>
#include <string_view>

namespace cnpa {

struct Right {
  std::string_view group;
  std::string_view resource;  ///< "teamspaces", or with its subresource "teamspaces/status".
  std::string_view name;      ///< Of the one object that it is about; "": all.
  std::string_view verb;
  std::string_view without = {};         ///< What is done where it is missing; "": not what cnpa-op is there for.
  std::string_view namespace_name = {};  ///< In which alone; "": in all.

  bool operator==(const Right&) const = default;
};

inline constexpr std::string_view kEventsResource = "events";
inline constexpr std::string_view kWithoutEvents = "does without events";
inline constexpr std::string_view kWithoutLinger = "does without --linger";

/// The rights on one resource stand together.
inline constexpr std::array<Right, 17> kLeastRights{{
    {"platform.labhub.io", "teamspaces", "", "list"},
    {"platform.labhub.io", "teamspaces", "", "watch", kWithoutLinger},
    {"platform.labhub.io", "teamspaces", "", "patch"},
    {"platform.labhub.io", "teamspaces/status", "", "patch"},
    {"", "namespaces", "", "list"},
    {"", "namespaces", "", "watch", kWithoutLinger},
    {"", "namespaces", "", "create"},
    {"", "namespaces", "", "patch"},
    {"", "resourcequotas", "", "create"},
    {"", "resourcequotas", "team-quota", "list"},
    {"", "resourcequotas", "team-quota", "watch", kWithoutLinger},
    {"", "resourcequotas", "team-quota", "patch"},
    {"", "resourcequotas", "team-quota", "delete"},
    // Discovery tells of the CRD too, out of a cache.
    {"apiextensions.k8s.io", "customresourcedefinitions", "teamspaces.platform.labhub.io", "get",
     "does with what discovery tells, which may be out of date"},
    // Those on what is in no namespace are there.
    {"events.k8s.io", kEventsResource, "", "create", kWithoutEvents, "default"},
    {"events.k8s.io", kEventsResource, "", "get", kWithoutEvents, "default"},
    {"events.k8s.io", kEventsResource, "", "patch", kWithoutEvents, "default"},
}};

}  // namespace cnpa
