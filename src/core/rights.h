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
  bool needed = true;  ///< Nothing else does in its place.

  bool operator==(const Right&) const = default;
};

/// In all namespaces each. The rights on one resource stand together.
inline constexpr std::array<Right, 11> kLeastRights{{
    {"platform.labhub.io", "teamspaces", "", "list"},
    {"platform.labhub.io", "teamspaces", "", "patch"},
    {"platform.labhub.io", "teamspaces/status", "", "patch"},
    {"", "namespaces", "", "list"},
    {"", "namespaces", "", "create"},
    {"", "namespaces", "", "patch"},
    {"", "resourcequotas", "", "create"},
    {"", "resourcequotas", "team-quota", "list"},
    {"", "resourcequotas", "team-quota", "patch"},
    {"", "resourcequotas", "team-quota", "delete"},
    // Discovery tells of the CRD too, out of a cache.
    {"apiextensions.k8s.io", "customresourcedefinitions", "teamspaces.platform.labhub.io", "get", false},
}};

}  // namespace cnpa
