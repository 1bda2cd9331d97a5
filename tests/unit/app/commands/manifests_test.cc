// SPDX-License-Identifier: Apache-2.0
#include "app/commands/manifests.h"

#include <string>
#include <vector>

#include "base/file.h"
#include "support/catch.h"
#include "support/testdata.h"
#include "support/text.h"

namespace cnpa {
namespace {

std::string Example(const std::string& name) {
  return ReadFile(TestdataFolder() + "/../../../examples/" + name).value();
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

TEST_CASE("UnitManifest starts the program by its path where systemd would not find it", "[app][manifests]") {
  struct Case {
    std::string path;
    std::string want;
  };
  const std::vector<Case> cases{
      {"", "ExecStart=cnpa-op reconcile"},
      {"/usr/bin/cnpa-op", "ExecStart=cnpa-op reconcile"},
      {"/usr/local/bin/cnpa-op", "ExecStart=cnpa-op reconcile"},
      {"/usr/local/bin/cnpa-op-0.2", "ExecStart=/usr/local/bin/cnpa-op-0.2 reconcile"},
      {"/opt/cnpa-op/bin/cnpa-op", "ExecStart=/opt/cnpa-op/bin/cnpa-op reconcile"},
      {"/srv/100%/cnpa-op", "ExecStart=/srv/100%%/cnpa-op reconcile"},
      {"/srv/my programs/cnpa-op", "ExecStart=\"/srv/my programs/cnpa-op\" reconcile"},
      {"/srv/a\"b\\c/cnpa-op", "ExecStart=\"/srv/a\\\"b\\\\c/cnpa-op\" reconcile"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.want) {
      const std::string unit = UnitManifest(c.path);
      CHECK(Contains(unit, "\n" + c.want + "\n"));
      CHECK(LinesOf(unit).size() == LinesOf(kUnit).size());
    }
  }
}

TEST_CASE("WhyUnitCannotRun names what the sandbox hides", "[app][manifests]") {
  for (const std::string path : {"/usr/bin/cnpa-op", "/opt/cnpa-op", "/homes/x/cnpa-op", ""}) {
    CHECK(WhyUnitCannotRun(path).empty());
  }
  CHECK(Contains(WhyUnitCannotRun("/home/ann/cnpa-op"), "'/home/ann/cnpa-op', which ProtectHome=yes hides"));
  CHECK(Contains(WhyUnitCannotRun("/tmp/cnpa-op"), "'/tmp/cnpa-op', which PrivateTmp=yes hides"));
  // What is named is in the unit.
  for (const std::string setting : {"ProtectHome=yes", "PrivateTmp=yes"}) CHECK(Contains(kUnit, setting));
}

}  // namespace
}  // namespace cnpa
