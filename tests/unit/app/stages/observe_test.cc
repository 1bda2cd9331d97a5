// SPDX-License-Identifier: Apache-2.0
#include "app/stages/observe.h"

#include <string>
#include <utility>
#include <vector>

#include "core/teamspace/plan.h"
#include "kube/codec/codec.h"
#include "support/answers.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/fake_api_server.h"

namespace cnpa {
namespace {

Result<Observation> ObserveOn(FakeApiServer& server) {
  Client client(server, std::chrono::seconds(15));
  return Observe(client, kNow);
}

TEST_CASE("Observe reads what is there, sorted, and only the namespaces of teams", "[app][observe]") {
  const Observation cluster = ConvergedCluster({"blue", "red"});
  FakeApiServer server;
  server.Put(cluster);
  server.Put("/api/v1/namespaces/default", R"({"metadata":{"name":"default","uid":"d"}})");
  server.Put("/api/v1/namespaces/team-red/resourcequotas/other", R"({"metadata":{"name":"other","uid":"o"}})");
  CHECK(ObserveOn(server) == cluster);
}

TEST_CASE("Observe asks for the quotas of our name only", "[app][observe]") {
  FakeApiServer server;
  REQUIRE(ObserveOn(server));
  CHECK(server.Log() ==
        std::vector<std::string>{"GET /apis/platform.labhub.io/v1alpha1/teamspaces?timeout=59s",
                                 "GET /api/v1/namespaces?timeout=59s",
                                 "GET /api/v1/resourcequotas?fieldSelector=metadata.name%3Dteam-quota&timeout=59s"});
}

TEST_CASE("ObserveOne asks for what concerns one team space, in lists", "[app][observe]") {
  FakeApiServer server;
  server.Put(ConvergedCluster({"red"}));
  Client client(server, std::chrono::seconds(15));
  CloseSights sights;
  const Result<Observation> observed = ObserveOne(client, kNow, "red", sights);
  REQUIRE(observed);
  CHECK(*observed == ConvergedCluster({"red"}));
  const std::string selector = "?fieldSelector=metadata.name%3D";
  CHECK(server.Log() == std::vector<std::string>{
                            "GET /apis/platform.labhub.io/v1alpha1/teamspaces" + selector + "red&timeout=59s",
                            "GET /api/v1/namespaces" + selector + "team-red&timeout=59s",
                            "GET /api/v1/namespaces/team-red/resourcequotas" + selector + "team-quota&timeout=59s"});
}

TEST_CASE("Observe reads the CRD only when a plan depends on it", "[app][observe]") {
  const std::string crd = "GET " + std::string(kCrdPath);
  FakeApiServer server;
  server.Put(ConvergedCluster({"red"}));
  REQUIRE(ObserveOn(server));
  CHECK_FALSE(server.Log().back().starts_with(crd));
  server.Put(DeletedTeamSpaceNamed("red"));
  server.Put(std::string(kCrdPath), AnswerText("200-crd-deleting.json"));
  const Result<Observation> observed = ObserveOn(server);
  REQUIRE(observed);
  CHECK(server.Log().back().starts_with(crd));
  CHECK(observed->crd == CrdFacts{.deleting = true, .has_namespace_uid = true});
}

TEST_CASE("ReadCrdFor reads the CRD before a status is written, unless that was done", "[app][observe]") {
  const auto read = [](const Observation& cluster) {
    FakeApiServer server;
    Client client(server, std::chrono::seconds(15));
    Observation observation = cluster;
    const Result<bool> done = ReadCrdFor(client, ComputePlan(cluster), observation);
    REQUIRE(done);
    CHECK(*done == (server.requests.size() == 1));
    return *done;
  };
  Observation cluster = ConvergedCluster({"red"});
  CHECK_FALSE(read(cluster));
  SECTION("an object is repaired") {
    cluster.quotas[0].hard["pods"] = "99";
    CHECK_FALSE(read(cluster));
  }
  SECTION("the spec was changed") {
    ++cluster.team_spaces[0].generation;
    CHECK(read(cluster));
  }
  SECTION("it is refused, and was ready") {
    cluster.namespaces[0] = ForeignNamespaceFor("red");
    CHECK(read(cluster));
  }
  SECTION("the status is missing what only the CRD can explain") {
    cluster.team_spaces[0].status = {};
    CHECK_FALSE(read(cluster));
  }
}

TEST_CASE("Observe asks discovery where no permission to get the CRD", "[app][observe]") {
  FakeApiServer server;
  server.Put(DeletedTeamSpaceNamed("red"));
  Response forbidden;
  forbidden.code = 403;
  forbidden.body = R"({"message":"User \"u\" cannot get resource \"customresourcedefinitions\" in API group \"x\""})";
  server.failure = {"GET " + std::string(kCrdPath), forbidden};
  server.Put(std::string(kDiscoveryPath), AnswerText("200-discovery.json"));
  CHECK(ObserveOn(server)->crd == CrdFacts{});
  server.Put(std::string(kDiscoveryPath), AnswerText("200-discovery-of-deleting-crd.json"));
  CHECK(ObserveOn(server)->crd == CrdFacts{.deleting = true});
}

TEST_CASE("Observe takes a CRD that is gone though its objects were listed as going", "[app][observe]") {
  FakeApiServer server;
  server.Put(DeletedTeamSpaceNamed("red"));
  server.Erase(std::string(kCrdPath));
  CHECK(ObserveOn(server)->crd.deleting);
}

TEST_CASE("Observe says that there is no API where namespaces are not known either", "[app][observe]") {
  FakeApiServer server;
  server.failure = {"GET /", Response{.code = 404, .body = ""}};
  const Error no_api{ErrorCode::kNotFound, "no Kubernetes API: check 'server' in the kubeconfig, its path included"};
  CHECK(ErrorOf(ObserveOn(server)) == no_api);
  server.failure->answer = StatusAnswer(403, "Forbidden", R"(forbidden: User \"u\" cannot get path \"/wrong/path/x\")");
  CHECK(ErrorOf(ObserveOn(server)) == no_api);
  server.failure = {"GET " + kNamespaces.path(), Response{.code = 404, .body = ""}};
  CHECK(ErrorOf(ObserveOn(server)) == Error{ErrorCode::kNotFound, "GET /api/v1/namespaces: 404 without a body"});
}

TEST_CASE("Observe refuses a list in which a name stands twice", "[app][observe]") {
  FakeApiServer server;
  server.Put(NamespaceFor("red"));
  server.Put("/api/v1/namespaces/copy", server.At("/api/v1/namespaces/team-red", ""));
  CHECK(ErrorOf(ObserveOn(server)) == Error{ErrorCode::kMalformed, "list namespaces: 'team-red' is in it twice"});
}

TEST_CASE("Observe forgets the pages of a list that failed half way", "[app][observe]") {
  const Observation cluster = ConvergedCluster({"blue", "red"});
  FakeApiServer server;
  server.Put(cluster);
  server.page_items = 1;
  bool failed = false;
  server.before = [&](const Request& request) {
    server.failure.reset();
    if (request.path.find("continue=") == std::string::npos || std::exchange(failed, true)) return;
    server.failure = {"GET", StatusAnswer(410, "Expired", "too old")};
  };
  CHECK(ObserveOn(server) == cluster);
  CHECK(failed);
}

TEST_CASE("Observe names the list and the item that does not decode", "[app][observe]") {
  FakeApiServer server;
  server.Put("/api/v1/namespaces/x", R"({"metadata":{"name":"x"}})");
  CHECK(ErrorOf(ObserveOn(server)) ==
        Error{ErrorCode::kMalformed, "list namespaces: decode an item of namespaces: 'metadata.uid' is missing"});
}

}  // namespace
}  // namespace cnpa
