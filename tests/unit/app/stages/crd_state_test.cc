// SPDX-License-Identifier: Apache-2.0
#include "app/stages/crd_state.h"

#include <map>
#include <string>
#include <vector>

#include "kube/codec/codec.h"
#include "support/answers.h"
#include "support/catch.h"
#include "support/fake_transport.h"
#include "support/text.h"

namespace cnpa {
namespace {

const std::string kNothing = "404 page not found\n";
const std::string kNoPermission = R"({"message":"x is forbidden: User \"u\" cannot get resource \"crds\" in API"})";
const std::string kOtherOfGroup = R"({"resources":[{"name":"teams","verbs":["create"],"kind":"Team"}]})";
const std::string kServed = R"({"resources":[{"name":"teamspaces","verbs":["create"],"kind":"TeamSpace"},)"
                            R"({"name":"teamspaces/status","verbs":["patch"]}]})";
const std::string kList = "GET /list: 404: 404 page not found";
const std::string kUnpermitted =
    "the TeamSpace CRD is not installed, or the server does not accept its names (only who may read CRDs can tell): "
    "cnpa-op crd | kubectl apply -f -";
const std::string kEdit =
    "serve v1alpha1 as well, as cnpa-op crd prints it: kubectl edit crd teamspaces.platform.labhub.io";

struct Reply {
  int code = 200;
  std::string body;
};

/// What a server answers, by the path; 404 as text to the rest.
using Replies = std::map<std::string, Reply>;

FakeTransport TransportOf(const Replies& replies) {
  return FakeTransport([replies](const Request& request) -> Result<Response> {
    const auto found = replies.find(request.path.substr(0, request.path.find('?')));
    if (found == replies.end()) return Response{.code = 404, .body = kNothing};
    if (found->second.code == 0) return Fail(ErrorCode::kUnavailable, found->second.body);
    return Response{.code = found->second.code, .body = found->second.body};
  });
}

std::string CrdText(const std::string& scope, const std::string& versions, const std::string& conditions,
                    const std::string& metadata = R"("uid":"u")") {
  return R"({"metadata":{)" + metadata + R"(},"spec":{"scope":")" + scope +
         R"(","names":{"kind":"TeamSpace","listKind":"TeamSpaceList"},"versions":[)" + versions +
         R"(]},"status":{"conditions":[)" + conditions + "]}}";
}

const std::string kOurs = R"({"name":"v1alpha1","served":true,"subresources":{"status":{}},"schema":)"
                          R"({"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})";
const std::string kEstablished = R"({"type":"Established","status":"True"})";

TEST_CASE("ExplainNoTeamSpaces says of a 404 which of its causes it has, and the way out", "[app][crd_state]") {
  const std::string crd(kCrdPath);
  const std::string discovery(kDiscoveryPath);
  const std::string group(kGroupPath);
  const std::string taken =
      R"({"type":"NamesAccepted","status":"False","message":"\"TeamSpaceList\" is already in use"},)"
      R"({"type":"Established","status":"False","message":"not all names are accepted"})";
  const std::string v1 = R"({"name":"v1","served":true},{"name":"v1beta1","served":false})";
  const Replies unpermitted{{crd, {403, kNoPermission}}};
  const auto with = [](Replies replies, const std::string& path, const std::string& body) {
    replies[path] = {200, body};
    return replies;
  };
  struct Case {
    std::string name;
    Replies replies;
    std::string want;
  };
  const std::vector<Case> cases{
      {"no CRD", {}, "the TeamSpace CRD is not installed: cnpa-op crd | kubectl apply -f -"},
      {"a name that is taken", with({}, crd, CrdText("Cluster", kOurs, taken)),
       "the TeamSpace CRD is not established (\"TeamSpaceList\" is already in use): another CRD has that name, and "
       "must give it up: kubectl get crd | grep labhub.io"},
      {"a CRD that was just made", with({}, crd, CrdText("Cluster", kOurs, "")),
       "the TeamSpace CRD is not established: wait a moment, then see: kubectl describe crd "
       "teamspaces.platform.labhub.io"},
      {"another version", with({}, crd, CrdText("Cluster", v1, kEstablished)),
       "the TeamSpace CRD does not serve v1alpha1 (but v1): " + kEdit},
      {"ours is not served",
       with({}, crd, CrdText("Cluster", R"({"name":"v1alpha1","served":false},)" + v1, kEstablished)),
       "the TeamSpace CRD does not serve v1alpha1 (but v1): " + kEdit},
      {"another scope and version", with({}, crd, CrdText("Namespaced", v1, kEstablished)),
       "the TeamSpace CRD does not serve v1alpha1 (but v1), is not cluster scoped: the scope can't be changed: delete "
       "the CRD, and with it its objects, then: cnpa-op crd | kubectl apply -f -"},
      {"on its last breath",
       with({}, crd, CrdText("Cluster", kOurs, kEstablished, R"("uid":"u","deletionTimestamp":"x")")),
       "the TeamSpace CRD is being deleted, with all team spaces: to keep the namespaces, save the TeamSpaces (kubectl "
       "get ts -o yaml), take the ownerReferences off their namespaces, make a pass with --allow-crd-deletion, then "
       "apply the CRD and the TeamSpaces again"},
      {"it is served by now", with({}, crd, CrdText("Cluster", kOurs, kEstablished)),
       kList + ": the TeamSpace CRD is established, so the server may serve it in a moment"},
      {"the CRD can't be asked for", {{crd, {0, "it is gone"}}}, kList + "; why is not known: it is gone"},
      {"may not read CRDs: no group", unpermitted, kUnpermitted},
      {"may not read CRDs: another CRD of the group", with(unpermitted, discovery, kOtherOfGroup), kUnpermitted},
      {"may not read CRDs: another version",
       with(with(with(unpermitted, group, R"({"versions":[{"version":"v1"},{"version":"v2"},{"version":"v1alpha1"}]})"),
                 group + "/v1", kServed),
            group + "/v2", kOtherOfGroup),
       "the TeamSpace CRD does not serve v1alpha1 (but v1): " + kEdit},
      {"may not read CRDs: served by now", with(unpermitted, discovery, kServed),
       kList + ": the TeamSpace CRD is established, so the server may serve it in a moment"},
      {"may not read discovery either",
       {{crd, {403, kNoPermission}}, {discovery, {0, "it is gone"}}},
       kList + "; why is not known: it is gone"},
      {"may not read the group either",
       {{crd, {403, kNoPermission}}, {group, {0, "it is gone"}}},
       kList + "; why is not known: it is gone"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      FakeTransport transport = TransportOf(c.replies);
      Client client(transport, std::chrono::seconds(15));
      CHECK(ExplainNoTeamSpaces(client, {ErrorCode::kNotFound, kList}) == Error{ErrorCode::kNotFound, c.want});
    }
  }
}

TEST_CASE("IsNoPathOfApi knows a 404, and a 403 of a path, which is of no resource", "[app][crd_state]") {
  CHECK(IsNoPathOfApi({ErrorCode::kNotFound, "GET /x: 404: no"}));
  CHECK(IsNoPathOfApi({ErrorCode::kInvalid, R"(GET /x: 403 Forbidden: forbidden: User "u" cannot get path "/a/x")"}));
  CHECK_FALSE(IsNoPathOfApi({ErrorCode::kDenied, R"(forbidden: user "u" cannot list namespaces)"}));
  CHECK_FALSE(IsNoPathOfApi({ErrorCode::kUnavailable, "GET /x: 503: no"}));
}

TEST_CASE("ExplainNoTeamSpaces leaves what is no 404 as it is, but for its way out", "[app][crd_state]") {
  const std::string see =
      ": see that the webhook of its spec.conversion answers: kubectl describe crd teamspaces.platform.labhub.io";
  const std::string unread = "500: failed to read one or more teamspaces.platform.labhub.io from the storage: x";
  const std::string webhook = "500: conversion webhook for platform.labhub.io/v1beta1, Kind=TeamSpace failed: y";
  const std::string namespaced = "list teamspaces: 'red' is in a namespace";
  const Replies ours{{std::string(kCrdPath), {200, CrdText("Cluster", kOurs, kEstablished)}}};
  const Replies other_scope{{std::string(kCrdPath), {200, CrdText("Namespaced", kOurs, kEstablished)}}};
  struct Case {
    Error error;
    Replies replies;
    std::string want;
  };
  const std::vector<Case> cases{
      {{ErrorCode::kUnavailable, "503: starting"}, ours, "503: starting"},
      {{ErrorCode::kDenied, "forbidden"}, ours, "forbidden"},
      {{ErrorCode::kInvalid, webhook}, ours, webhook + see},
      {{ErrorCode::kUnavailable, unread}, ours, unread + see},
      {{ErrorCode::kMalformed, "not JSON"}, other_scope, "not JSON"},
      {{ErrorCode::kMalformed, namespaced}, ours, namespaced},
      {{ErrorCode::kMalformed, namespaced}, {}, namespaced},
      {{ErrorCode::kMalformed, namespaced},
       other_scope,
       "the TeamSpace CRD is not cluster scoped: the scope can't be changed: delete the CRD, and with it its objects, "
       "then: cnpa-op crd | kubectl apply -f -"},
  };
  for (const Case& c : cases) {
    FakeTransport transport = TransportOf(c.replies);
    Client client(transport, std::chrono::seconds(15));
    CHECK(ExplainNoTeamSpaces(client, c.error) == Error{c.error.code, c.want});
    CHECK(transport.requests.size() == (c.error.message == namespaced ? 1 : 0));
  }
}

TEST_CASE("ReadCrdFacts takes the published schema where the CRD may not be read", "[app][crd_state]") {
  const auto schema = [](const std::string& fields) {
    return R"({"components":{"schemas":{"io.labhub.platform.v1alpha1.TeamSpace":{"properties":{"status":)"
           R"({"properties":{"observedGeneration":{},"namespace":{})" +
           fields + "}}}}}}}";
  };
  const std::string openapi(kOpenApiPath);
  const Replies unpermitted{{std::string(kCrdPath), {403, kNoPermission}},
                            {std::string(kDiscoveryPath), {200, kServed}}};
  struct Case {
    std::string name;
    Reply schema;
    Result<CrdFacts> want;
  };
  const std::vector<Case> cases{
      {"ours", {200, schema(R"(,"conditions":{})")}, CrdFacts{}},
      {"the seed's", {200, schema("")}, CrdFacts{.has_conditions = false}},
      {"not published yet", {404, kNothing}, CrdFacts{}},
      {"published without ours", {200, "{}"}, CrdFacts{}},
      {"no answer", {0, "it is gone"}, Fail(ErrorCode::kUnavailable, "it is gone")},
      {"no JSON", {200, "x"}, Fail(ErrorCode::kMalformed, "not JSON at byte 0: Invalid value.")},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Replies replies = unpermitted;
      replies[openapi] = c.schema;
      FakeTransport transport = TransportOf(replies);
      Client client(transport, std::chrono::seconds(15));
      const Result<CrdFacts> facts = ReadCrdFacts(client);
      CHECK(ErrorOf(facts) == ErrorOf(c.want));
      if (facts && c.want) {
        CHECK(*facts == *c.want);
      }
    }
  }
}

}  // namespace
}  // namespace cnpa
