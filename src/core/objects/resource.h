// SPDX-License-Identifier: Apache-2.0
//
// Kinds of objects, as the API server names them: each is spelt here, once.
#pragma once

#include <string>
#include <string_view>

namespace cnpa {

struct Resource {
  std::string_view group;  ///< "": the core group.
  std::string_view version;
  std::string_view plural;
  std::string_view kind;

  /// Returns what an object says of itself: "v1", "platform.labhub.io/v1alpha1".
  std::string api_version() const;

  /// Returns where the server has all objects, or those in one namespace: "/api/v1/namespaces/team-red/resourcequotas".
  std::string path(std::string_view namespace_name = {}) const;

  bool operator==(const Resource&) const = default;
};

inline constexpr Resource kTeamSpaceResource{"platform.labhub.io", "v1alpha1", "teamspaces", "TeamSpace"};
inline constexpr Resource kNamespaceResource{"", "v1", "namespaces", "Namespace"};
inline constexpr Resource kQuotaResource{"", "v1", "resourcequotas", "ResourceQuota"};
inline constexpr Resource kCrdResource{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                       "CustomResourceDefinition"};
inline constexpr std::string_view kCrdName = "teamspaces.platform.labhub.io";  ///< Of TeamSpaces.
inline constexpr Resource kEventResource{"events.k8s.io", "v1", "events", "Event"};

}  // namespace cnpa
