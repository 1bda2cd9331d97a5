// SPDX-License-Identifier: Apache-2.0
#include "kube/http/transport.h"

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("MethodName spells each method as HTTP does", "[kube][transport]") {
  CHECK(MethodName(Method::kGet) == "GET");
  CHECK(MethodName(Method::kPost) == "POST");
  CHECK(MethodName(Method::kPatch) == "PATCH");
  CHECK(MethodName(Method::kDelete) == "DELETE");
}

}  // namespace
}  // namespace cnpa
