// SPDX-License-Identifier: Apache-2.0
#include "kube/http/transport.h"

namespace cnpa {

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kGet: return "GET";
    case Method::kPost: return "POST";
    case Method::kPatch: return "PATCH";
    case Method::kDelete: return "DELETE";
  }
  return "";
}

std::string NotJsonWords(const std::string& content_type) {
  constexpr std::size_t kLongest = 40;
  const std::string type = content_type.substr(0, content_type.find_first_of("; \t"));
  if (type.find("json") != std::string::npos) return {};
  return " (it is " + (type.empty() ? "of no type" : "'" + type.substr(0, kLongest) + "'") +
         ": is there a proxy in between?)";
}

}  // namespace cnpa
