// SPDX-License-Identifier: Apache-2.0
#include "kube/codec/codec_check.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "app/commands/manifests.h"
#include "support/answers.h"
#include "support/catch.h"

namespace cnpa {
namespace {

const CrdReport kFits{.established = true,
                      .refusal = {},
                      .deleting = false,
                      .cluster_scoped = true,
                      .served = true,
                      .served_versions = {},
                      .has_status = true,
                      .has_conditions = true,
                      .has_namespace_uid = true,
                      .has_schema = true,
                      .differences = {}};

/// Returns the recorded CRD after `from` has become `to`, at each place.
std::string CrdWith(const std::string& from, const std::string& to) {
  std::string text = AnswerText("200-crd.json");
  std::size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  for (; place != std::string::npos; place = text.find(from, place + to.size())) text.replace(place, from.size(), to);
  return text;
}

/// A CRD with this schema, and else as ours.
std::string CrdOfSchema(const std::string& schema) {
  return R"({"metadata":{"uid":"u"},"spec":{"scope":"Cluster","names":{"kind":"TeamSpace","listKind":"TeamSpaceList"},
    "versions":[{"name":"v1","served":true},{"name":"v1alpha1","served":true,"subresources":{"status":{}},
    "schema":{"openAPIV3Schema":)" +
         schema + R"(}}]},"status":{"conditions":[{"type":"Established","status":"True"}]}})";
}

std::string Schema(const std::string& spec, const std::string& status) {
  return R"({"type":"object","properties":{"spec":{"type":"object","properties":{)" + spec +
         R"(}},"status":{"type":"object","properties":{)" + status + "}}}}";
}

const std::string kSpec = R"("pods":{"type":"integer"},"cpu":{"type":"string"})";
const std::string kStatus = R"("observedGeneration":{"type":"integer"},"namespace":{"type":"string"})";

/// Adds the types of all fields below `schema` that have no fields of their own, or are lists, by their paths.
void CollectFields(const YAML::Node& schema, const std::string& path, std::map<std::string, std::string>& fields) {
  for (const auto& property : schema["properties"]) {
    const std::string below = path + (path.empty() ? "" : ".") + property.first.Scalar();
    const std::string type = property.second["type"].Scalar();
    if (type != "object") fields.emplace(below, type);
    if (property.second["items"]) CollectFields(property.second["items"], below + "[]", fields);
    CollectFields(property.second, below, fields);
  }
}

TEST_CASE("SchemaFields are the fields of spec and status in examples/crd.yaml", "[kube][codec_check]") {
  std::map<std::string, std::string> ours;
  const YAML::Node version = YAML::Load(std::string(kCrdYaml))["spec"]["versions"][0];
  CollectFields(version["schema"]["openAPIV3Schema"], "", ours);
  ours.erase("metadata.name");
  std::map<std::string, std::string> table;
  for (const SchemaField& field : SchemaFields()) table.emplace(field.path, field.type);
  CHECK(table == ours);
}

TEST_CASE("DecodeCrdReport finds nothing wrong with our own CRD", "[kube][codec_check]") {
  CHECK(DecodeCrdReport(AnswerText("200-crd.json")) == kFits);
}

TEST_CASE("DecodeCrdReport sees what a CRD lacks as a whole", "[kube][codec_check]") {
  CHECK(DecodeCrdReport(AnswerText("200-crd-deleting.json"))->deleting);
  CHECK_FALSE(DecodeCrdReport(CrdWith("Cluster", "Namespaced"))->cluster_scoped);
  CHECK_FALSE(DecodeCrdReport(CrdWith("Established", "NamesAccepted"))->established);
  const Result<CrdReport> other = DecodeCrdReport(CrdWith("v1alpha1", "v1beta1"));
  CHECK_FALSE(other->served);
  CHECK(other->served_versions == std::vector<std::string>{"v1beta1"});
  CHECK_FALSE(DecodeCrdReport(CrdWith("\"subresources\"", "\"superresources\""))->has_status);
  const Result<CrdReport> names = DecodeCrdReport(CrdWith("TeamSpace", "Room"));
  CHECK(names->differences ==
        std::vector<std::string>{"kind is 'Room', not TeamSpace", "listKind is 'RoomList', not TeamSpaceList"});
}

TEST_CASE("DecodeCrdReport says in the server's words which name of a CRD is taken", "[kube][codec_check]") {
  const auto report = [](const std::string& conditions) {
    return DecodeCrdReport(R"({"metadata":{"uid":"u"},"status":{"conditions":[)" + conditions + "]}}").value();
  };
  const std::string taken =
      R"({"type":"NamesAccepted","status":"False","message":"\"TeamSpaceList\" is already in use"})";
  const CrdReport refused =
      report(taken + R"(,{"type":"Established","status":"False","message":"not all names are accepted"})");
  CHECK_FALSE(refused.established);
  CHECK(refused.refusal == "\"TeamSpaceList\" is already in use");
  // One that was established before another took a name of it is served on.
  CHECK(report(taken + R"(,{"type":"Established","status":"True"})").established);
  CHECK(report(R"({"type":"NamesAccepted","status":"True","message":"no conflicts found"})").refusal.empty());
}

TEST_CASE("DecodeGroupVersions reads the versions of a group", "[kube][codec_check]") {
  CHECK(DecodeGroupVersions(R"({"versions":[{"groupVersion":"g/v1","version":"v1"},{"version":"v2"}]})") ==
        std::vector<std::string>{"v1", "v2"});
  CHECK(ErrorOf(DecodeGroupVersions(R"({"versions":[{}]})")) ==
        Error{ErrorCode::kMalformed, "'versions[0].version' is missing"});
  CHECK(DecodeGroupVersions("x").error().code == ErrorCode::kMalformed);
}

TEST_CASE("DecodeCrdReport names each field that lacks or differs", "[kube][codec_check]") {
  using Words = std::vector<std::string>;
  struct Case {
    std::string name;
    std::string schema;
    Words want;
    bool has_conditions = false;
    bool has_namespace_uid = false;
  };
  const std::string conditions =
      R"(,"conditions":{"type":"array","items":{"type":"object","properties":{"type":{"type":"string"},)"
      R"("status":{"type":"string"},"observedGeneration":{"type":"integer"},"lastTransitionTime":{"type":"string"},)"
      R"("reason":{"type":"string"},"message":{"type":"string"}}}})";
  const std::vector<Case> cases{
      {"the plain one", Schema(kSpec, kStatus), {}},
      {"conditions", Schema(kSpec, kStatus + conditions), {}, true},
      {"namespaceUID", Schema(kSpec, kStatus + conditions + R"(,"namespaceUID":{"type":"string"})"), {}, true, true},
      {"a number for namespaceUID",
       Schema(kSpec, kStatus + conditions + R"(,"namespaceUID":{"type":"integer"})"),
       {"status.namespaceUID is integer, not string"},
       true,
       true},
      {"further fields", Schema(kSpec + R"(,"color":{"type":"string"})", kStatus + R"(,"x":{"type":"object"})"), {}},
      {"an int-or-string cpu",
       Schema(R"("pods":{"type":"integer"},"cpu":{"x-kubernetes-int-or-string":true})", kStatus),
       {}},
      {"no cpu", Schema(R"("pods":{"type":"integer"})", kStatus), {"spec.cpu is missing"}},
      {"pods as text",
       Schema(R"("pods":{"type":"string"},"cpu":{"type":"string"})", kStatus),
       {"spec.pods is string, not integer"}},
      {"a number for cpu",
       Schema(R"("pods":{"type":"integer"},"cpu":{"type":"integer"})", kStatus),
       {"spec.cpu is integer, not string"}},
      {"an int-or-string for pods",
       Schema(R"("pods":{"x-kubernetes-int-or-string":true},"cpu":{"type":"string"})", kStatus),
       {"spec.pods is of no type, not integer"}},
      {"an empty status", Schema(kSpec, ""), {"status.observedGeneration is missing", "status.namespace is missing"}},
      {"conditions that are no list",
       Schema(kSpec, kStatus + R"(,"conditions":{"type":"object"})"),
       {"status.conditions is object, not array", "status.conditions[].type is missing",
        "status.conditions[].status is missing", "status.conditions[].observedGeneration is missing",
        "status.conditions[].lastTransitionTime is missing", "status.conditions[].reason is missing",
        "status.conditions[].message is missing"},
       true},
      {"nothing at all",
       R"({"type":"object"})",
       {"spec.pods is missing", "spec.cpu is missing", "status.observedGeneration is missing",
        "status.namespace is missing"}},
      {"everything as it comes", R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})", {}, true, true},
      {"a status as it comes",
       R"({"type":"object","properties":{"spec":{"type":"object","properties":{)" + kSpec +
           R"(}},"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})",
       {},
       true,
       true},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CrdReport want = kFits;
      want.differences = c.want;
      want.has_conditions = c.has_conditions;
      want.has_namespace_uid = c.has_namespace_uid;
      CHECK(DecodeCrdReport(CrdOfSchema(c.schema)) == want);
    }
  }
}

TEST_CASE("DecodeCrdReport refuses what is no object of the API", "[kube][codec_check]") {
  CHECK(ErrorOf(DecodeCrdReport("{}")) == Error{ErrorCode::kMalformed, "'metadata.uid' is missing"});
  CHECK(ErrorOf(DecodeCrdReport(std::string(100, '['))) == Error{ErrorCode::kMalformed, "nested too deep"});
}

TEST_CASE("DecodeDiscoveryReport sees the same but the schema", "[kube][codec_check]") {
  CrdReport want = kFits;
  want.has_schema = false;
  CHECK(DecodeDiscoveryReport(AnswerText("200-discovery.json")) == want);
  want.deleting = true;
  CHECK(DecodeDiscoveryReport(AnswerText("200-discovery-of-deleting-crd.json")) == want);
  CHECK(DecodeDiscoveryReport(R"({"resources":[]})") == CrdReport{.established = true, .cluster_scoped = true});
  const CrdReport other =
      DecodeDiscoveryReport(
          R"({"resources":[{"name":"teamspaces","namespaced":true,"kind":"Room","verbs":["create"]}]})")
          .value();
  CHECK_FALSE(other.cluster_scoped);
  CHECK(other.differences == std::vector<std::string>{"kind is 'Room', not TeamSpace"});
  CHECK_FALSE(other.has_status);
}

TEST_CASE("DecodeVersion wants what a Kubernetes API server says", "[kube][codec_check]") {
  CHECK(DecodeVersion(R"({"major":"1","gitVersion":"v1.37.2+k3s1"})") == "v1.37.2+k3s1");
  CHECK(ErrorOf(DecodeVersion(R"({"name":"another service"})")) ==
        Error{ErrorCode::kMalformed, "'gitVersion' is missing"});
  CHECK(ErrorOf(DecodeVersion("<html>"))->code == ErrorCode::kMalformed);
}

TEST_CASE("DecodeFailedReadyChecks names what failed", "[kube][codec_check]") {
  CHECK(DecodeFailedReadyChecks("[+]ping ok\n[-]etcd failed: reason withheld\n[+]log ok\n"
                                "[-]poststarthook/rbac/bootstrap-roles failed: reason withheld\nreadyz check failed") ==
        std::vector<std::string>{"etcd", "poststarthook/rbac/bootstrap-roles"});
  CHECK(DecodeFailedReadyChecks("").empty());
  CHECK(DecodeFailedReadyChecks("a proxy's page\n").empty());
}

TEST_CASE("DecodeSelfReview reads who we are", "[kube][codec_check]") {
  CHECK(DecodeSelfReview(R"({"status":{"userInfo":{"username":"u","groups":["a","b"],"extra":{"x":["y"]}}}})") ==
        UserInfo{"u", {"a", "b"}});
  CHECK(ErrorOf(DecodeSelfReview(R"({"status":{}})")) ==
        Error{ErrorCode::kMalformed, "'status.userInfo.username' is missing"});
}

TEST_CASE("EncodeSelfReview asks nothing but who we are", "[kube][codec_check]") {
  CHECK(EncodeSelfReview() == R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})");
}

TEST_CASE("EncodeAccessReview asks for one right", "[kube][codec_check]") {
  const std::string head =
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":)";
  CHECK(EncodeAccessReview({"", "namespaces", "", "list"}) ==
        head + R"({"group":"","resource":"namespaces","verb":"list"}}})");
  CHECK(EncodeAccessReview({"g", "teamspaces/status", "", "patch"}) ==
        head + R"({"group":"g","resource":"teamspaces","subresource":"status","verb":"patch"}}})");
  CHECK(EncodeAccessReview({"", "resourcequotas", "team-quota", "list"}) ==
        head + R"({"group":"","resource":"resourcequotas","name":"team-quota","verb":"list"}}})");
  CHECK(EncodeAccessReview({"g", "events", "", "get", "", "default"}) ==
        head + R"({"namespace":"default","group":"g","resource":"events","verb":"get"}}})");
}

TEST_CASE("DecodeAccessReview reads yes and no, and takes silence for neither", "[kube][codec_check]") {
  CHECK(DecodeAccessReview(R"({"status":{"allowed":true,"reason":"RBAC: x"}})") == true);
  CHECK(DecodeAccessReview(R"({"status":{"allowed":false}})") == false);
  CHECK(ErrorOf(DecodeAccessReview("{}")) == Error{ErrorCode::kMalformed, "'status.allowed' is missing"});
}

}  // namespace
}  // namespace cnpa
