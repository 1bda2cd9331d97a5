// SPDX-License-Identifier: Apache-2.0
#include "core/objects/resource.h"

namespace cnpa {

std::string Resource::api_version() const {
  return (group.empty() ? "" : std::string(group) + "/") + std::string(version);
}

/// Source:  Kubernetes API Concepts, Resource URIs.
std::string Resource::path(std::string_view namespace_name) const {
  std::string path = (group.empty() ? "/api/" : "/apis/") + api_version();
  if (!namespace_name.empty()) path.append("/namespaces/").append(namespace_name);
  return path.append("/").append(plural);
}

}  // namespace cnpa
