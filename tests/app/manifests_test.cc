// SPDX-License-Identifier: Apache-2.0
#include "app/manifests.h"

#include <string>

#include "base/file.h"
#include "support/catch.h"
#include "support/testdata.h"
#include "support/text.h"

namespace cnpa {
namespace {

std::string Example(const std::string& name) {
  return ReadFile(TestdataFolder() + "/../../examples/" + name).value();
}

Options DefaultOptions() {
  Options options;
  options.rbac_user = "cnpa-op";
  return options;
}

const std::string kUser = "- {kind: User, apiGroup: rbac.authorization.k8s.io, name: cnpa-op}";

TEST_CASE("kCrdYaml and kRbacYaml are the files in examples/", "[app][manifests]") {
  CHECK(kCrdYaml == Example("crd.yaml"));
  CHECK(kRbacYaml == Example("rbac.yaml"));
}

TEST_CASE("RbacManifest for the default user says what the example says", "[app][manifests]") {
  CHECK(RbacManifest(DefaultOptions()) == Example("rbac.yaml"));
}

TEST_CASE("RbacManifest changes the subject and nothing else", "[app][manifests]") {
  std::string want = Example("rbac.yaml");
  Options options = DefaultOptions();
  std::string subject;
  SECTION("--user") {
    options.rbac_user = "system:node";
    subject = "- {kind: User, apiGroup: rbac.authorization.k8s.io, name: \"system:node\"}";
  }
  SECTION("--serviceaccount") {
    options.rbac_service_account = "ops:runner";
    subject = "- {kind: ServiceAccount, namespace: \"ops\", name: \"runner\"}";
  }
  std::size_t subjects = 0;
  for (std::size_t place = 0; (place = want.find(kUser)) != std::string::npos; ++subjects) {
    want.replace(place, kUser.size(), subject);
  }
  CHECK(subjects == 2);
  CHECK(RbacManifest(options) == want);
}

TEST_CASE("RbacManifest --openshift adds delete on namespaces and nothing else", "[app][manifests]") {
  Options options = DefaultOptions();
  std::string want = RbacManifest(options);
  options.openshift = true;
  const std::string verbs = "resources: [namespaces], verbs: [list, watch, create, patch";
  want.insert(want.find(verbs) + verbs.size(), ", delete");
  CHECK(RbacManifest(options) == want);
}

TEST_CASE("RbacManifest escapes a name as YAML asks for", "[app][manifests]") {
  Options options = DefaultOptions();
  options.rbac_user = R"(DOMAIN\user "x")";
  CHECK(Contains(RbacManifest(options), R"(name: "DOMAIN\\user \"x\""})"));
}

}  // namespace
}  // namespace cnpa
