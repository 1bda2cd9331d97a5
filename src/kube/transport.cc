// SPDX-License-Identifier: Apache-2.0
#include "kube/transport.h"

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

}  // namespace cnpa
