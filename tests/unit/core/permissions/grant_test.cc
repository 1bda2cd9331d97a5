// SPDX-License-Identifier: Apache-2.0
#include "core/permissions/grant.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("GrantAdvice is for the user that is meant, and says where another loses by it", "[core][grant]") {
  const std::string move = "move cnpa-op's permissions to this user: cnpa-op rbac ";
  struct Case {
    std::string user;
    std::string want;
  };
  const std::vector<Case> cases{
      {"", "cnpa-op rbac | kubectl apply -f -"},
      {"cnpa-op", "cnpa-op rbac | kubectl apply -f -"},
      {"jane@example.com", move + "--user jane@example.com | kubectl apply -f -"},
      {"system:node:a", move + "--user system:node:a | kubectl apply -f -"},
      {"system:serviceaccount:ops:runner", move + "--serviceaccount ops:runner | kubectl apply -f -"},
      {"O'Neill; rm -rf", move + R"(--user 'O'\''Neill; rm -rf' | kubectl apply -f -)"},
  };
  for (const Case& c : cases) CHECK(GrantAdvice(c.user) == c.want);
}

}  // namespace
}  // namespace cnpa
