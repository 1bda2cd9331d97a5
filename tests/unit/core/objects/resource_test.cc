// SPDX-License-Identifier: Apache-2.0
#include "core/objects/resource.h"

#include "core/objects/objects.h"
#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("Resource knows its apiVersion and its path, in a namespace and in all", "[core][resource]") {
  CHECK(kTeamSpaceResource.api_version() == kTeamSpaceApiVersion);
  CHECK(kTeamSpaceResource.kind == kTeamSpaceKind);
  CHECK(kTeamSpaceResource.path() == "/apis/platform.labhub.io/v1alpha1/teamspaces");
  CHECK(kQuotaResource.api_version() == "v1");
  CHECK(kQuotaResource.path() == "/api/v1/resourcequotas");
  CHECK(kQuotaResource.path("team-red") == "/api/v1/namespaces/team-red/resourcequotas");
}

}  // namespace
}  // namespace cnpa
