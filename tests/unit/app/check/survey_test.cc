// SPDX-License-Identifier: Apache-2.0
#include "app/check/survey.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/permissions/unauthorized.h"
#include "kube/codec/codec.h"
#include "support/answers.h"
#include "support/catch.h"
#include "support/fake_transport.h"
#include "support/survey.h"
#include "support/text.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;

Response AnswerOf(int code, const std::string& body) {
  Response response;
  response.code = code;
  response.body = body;
  response.date = "Tue, 06 May 2031 07:08:09 GMT";
  return response;
}

Response Forbidden(const std::string& user = "u") {
  return AnswerOf(403, R"({"message":"x is forbidden: User \")" + user + R"(\" cannot get resource \"y\" in API"})");
}

std::string PathOf(const Request& request) {
  return request.path.substr(0, request.path.find('?'));
}

/// A server on which all is well, but for the answers that a test puts by their paths.
class Server {
 public:
  Server() {
    Put(kVersionPath, AnswerOf(200, R"({"gitVersion":"v1.37.2"})"));
    Put(kReadyPath, AnswerOf(200, "ok"));
    Put(kSelfReviewPath, AnswerOf(201, R"({"status":{"userInfo":{"username":"u","groups":["g"]}}})"));
    Put(kCrdPath, Answer("200-crd.json"));
    Put(kDiscoveryPath, Answer("200-discovery.json"));
    Put(kAccessReviewPath, AnswerOf(201, R"({"status":{"allowed":true}})"));
    Put("/apis/platform.labhub.io/v1alpha1/teamspaces", Answer("200-teamspaces.json"));
    Put("/api/v1/namespaces", Answer("200-namespaces.json"));
    Put("/api/v1/resourcequotas", Answer("200-resourcequotas.json"));
    Put(kOpenApiPath, AnswerOf(404, "404 page not found"));
    Put(kGroupPath, AnswerOf(404, "404 page not found"));
  }

  void Put(std::string_view path, Result<Response> answer) { answers_.insert_or_assign(std::string(path), answer); }

  Survey Ask(bool with_events = true) {
    Survey survey{.with_events = with_events};
    milliseconds clock{0};
    SurveyServer(
        transport, std::chrono::seconds(15), [&clock] { return kNow + (clock += milliseconds(10)); }, survey);
    return survey;
  }

  FakeTransport transport{[this](const Request& request) { return answers_.at(PathOf(request)); }};

 private:
  std::map<std::string, Result<Response>> answers_;
};

std::string Line(std::string_view method, std::string_view path) {
  return std::string(method) + " " + std::string(path);
}

TEST_CASE("SurveyServer learns all there is", "[app][survey]") {
  Server server;
  const Survey survey = server.Ask();
  CHECK(**survey.version == "v1.37.2");
  CHECK(survey.ready_is_told);
  CHECK(survey.not_ready.empty());
  CHECK(**survey.user == UserInfo{"u", {"g"}});
  CHECK((*survey.crd)->has_schema);
  REQUIRE(survey.rights.size() == kLeastRights.size());
  for (const Known<bool>& allowed : survey.rights) CHECK(**allowed);
  REQUIRE(survey.lists);
  CHECK((*survey.lists)->team_spaces > 0);
  REQUIRE(survey.clock);
  CHECK(survey.clock->sent == kNow + milliseconds(10));
  CHECK(survey.clock->received == kNow + milliseconds(20));
  CHECK(survey.clock->date == "Tue, 06 May 2031 07:08:09 GMT");
}

TEST_CASE("SurveyServer asks for each right once, side by side, and changes nothing", "[app][survey]") {
  Server server;
  server.Ask();
  std::vector<std::string> bodies;
  for (const Request& request : server.transport.requests) {
    if (PathOf(request) == kAccessReviewPath) bodies.push_back(request.body);
    CHECK(
        (request.method == Method::kGet || PathOf(request) == kAccessReviewPath || PathOf(request) == kSelfReviewPath));
  }
  std::vector<std::string> want;
  want.reserve(kLeastRights.size());
  for (const Right& right : kLeastRights) want.push_back(EncodeAccessReview(right));
  CHECK(bodies == want);
  CHECK(server.transport.most_at_once == kLeastRights.size() + 1);  // The CRD is read with them.
}

TEST_CASE("SurveyServer does not ask for rights that are not wanted", "[app][survey]") {
  Server server;
  const Survey survey = server.Ask(false);
  REQUIRE(survey.rights.size() == kLeastRights.size());
  for (std::size_t i = 0; i < kLeastRights.size(); ++i) {
    CHECK(survey.rights[i].has_value() == (kLeastRights.at(i).resource != kEventsResource));
  }
}

TEST_CASE("SurveyServer stops where nobody answers, or somebody else", "[app][survey]") {
  struct Case {
    std::string name;
    Result<Response> answer;
    Error want;
    bool has_clock;
  };
  const std::vector<Case> cases{
      {"nobody", Fail(ErrorCode::kUnavailable, "cannot reach x"), {ErrorCode::kUnavailable, "cannot reach x"}, false},
      {"a web server",
       AnswerOf(200, "<html>"),
       {ErrorCode::kMalformed, "no Kubernetes API server: its /version: not JSON at byte 0: Invalid value."},
       true},
      {"another service",
       AnswerOf(404, "404 page not found"),
       {ErrorCode::kNotFound, "GET /version: 404: 404 page not found"},
       true},
      {"a gateway", AnswerOf(502, "bad gateway"), {ErrorCode::kUnavailable, "GET /version: 502: bad gateway"}, true},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Server server;
      server.Put(kVersionPath, c.answer);
      const Survey survey = server.Ask();
      CHECK(ErrorOf(*survey.version) == c.want);
      CHECK(survey.clock.has_value() == c.has_clock);
      CHECK_FALSE(survey.user);
      CHECK_FALSE(survey.crd);
      CHECK_FALSE(survey.rights.front());
      CHECK(server.transport.Log() == std::vector<std::string>{"GET /version"});
    }
  }
}

TEST_CASE("SurveyServer stops where another path than ours is forbidden", "[app][survey]") {
  Server server;
  server.Put(kVersionPath,
             AnswerOf(403, R"({"message":"forbidden: User \"u\" cannot get path \"/wrong/path/version\""})"));
  const Survey survey = server.Ask();
  CHECK(survey.version->error().code == ErrorCode::kNotFound);
  CHECK_FALSE(survey.user);
}

TEST_CASE("SurveyServer stops where the server refuses us", "[app][survey]") {
  Server server;
  server.Put(kVersionPath, Answer("401-bad-token.json"));
  server.Put(kSelfReviewPath, Answer("401-bad-token.json"));
  const Survey survey = server.Ask();
  CHECK(survey.version->error().code == ErrorCode::kDenied);
  CHECK(IsUnauthorized(survey.user->error()));
  CHECK_FALSE(survey.crd);
  CHECK(survey.clock);
  server.Put(kVersionPath, AnswerOf(200, R"({"gitVersion":"v1"})"));
  server.Put(kSelfReviewPath, Forbidden("system:anonymous"));
  CHECK(IsUnauthorized(server.Ask().user->error()));
}

TEST_CASE("SurveyServer goes on where it is only told less", "[app][survey]") {
  Server server;
  server.Put(kVersionPath, AnswerOf(403, R"({"message":"forbidden: User \"u\" cannot get path \"/version\""})"));
  const int code = GENERATE(401, 403, 404);
  server.Put(kReadyPath, AnswerOf(code, ""));
  server.Put(kSelfReviewPath, AnswerOf(404, "404 page not found"));
  const Survey survey = server.Ask();
  CHECK(survey.version->error().code == ErrorCode::kDenied);
  CHECK_FALSE(survey.ready_is_told);
  CHECK(survey.user->error().code == ErrorCode::kNotFound);
  CHECK((*survey.crd)->has_schema);
  CHECK(**survey.rights.back());
}

TEST_CASE("SurveyServer stops where the server is not ready", "[app][survey]") {
  Server server;
  server.Put(kReadyPath, AnswerOf(500, "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n"));
  const Survey survey = server.Ask();
  CHECK(survey.not_ready == std::vector<std::string>{"etcd"});
  CHECK(**survey.user == UserInfo{"u", {"g"}});
  CHECK_FALSE(survey.crd);
  server.Put(kReadyPath, AnswerOf(503, "starting"));
  CHECK(server.Ask().not_ready == std::vector<std::string>{"GET /readyz: 503: starting"});
  server.Put(kReadyPath, Fail(ErrorCode::kUnavailable, "cannot reach x"));
  const Survey cut = server.Ask();
  CHECK(ErrorOf(*cut.version) == Error{ErrorCode::kUnavailable, "cannot reach x"});
  CHECK_FALSE(cut.crd);
}

TEST_CASE("SurveyServer tries the lists of a pass, unless it knows why they can't be read", "[app][survey]") {
  const std::string team_spaces = "/apis/platform.labhub.io/v1alpha1/teamspaces";
  const std::string words = "conversion webhook for platform.labhub.io/v1beta1, Kind=TeamSpace failed";
  Server server;
  server.Put(team_spaces, AnswerOf(500, R"({"reason":"InternalError","message":")" + words + "\"}"));
  const Survey broken = server.Ask();
  REQUIRE(broken.lists);
  CHECK(Contains(ErrorOf(*broken.lists)->message, words));
  server.transport.requests.clear();
  SECTION("the CRD is missing") {
    server.Put(kCrdPath, AnswerOf(404, "{}"));
  }
  SECTION("the CRD is not established") {
    server.Put(kCrdPath, AnswerOf(200, R"({"metadata":{"uid":"u"},"spec":{"scope":"Cluster"}})"));
  }
  SECTION("the permission is missing") {
    server.Put(kAccessReviewPath, AnswerOf(201, R"({"status":{"allowed":false}})"));
  }
  CHECK_FALSE(server.Ask().lists);
  const std::vector<std::string> log = server.transport.Log();
  CHECK(std::none_of(log.begin(), log.end(), [&](const std::string& line) { return Contains(line, team_spaces); }));
}

TEST_CASE("SurveyServer asks discovery where no permission to get the CRD", "[app][survey]") {
  Server server;
  server.Put(kCrdPath, Forbidden());
  const Survey survey = server.Ask();
  CHECK_FALSE((*survey.crd)->has_schema);
  CHECK((*survey.crd)->has_status);
  server.Put(kDiscoveryPath, AnswerOf(404, "404 page not found"));
  CHECK(server.Ask().crd->error().code == ErrorCode::kNotFound);
  server.Put(kCrdPath, AnswerOf(404, "{}"));
  server.transport.requests.clear();
  CHECK(server.Ask().crd->error().code == ErrorCode::kNotFound);
  const std::vector<std::string> log = server.transport.Log();
  CHECK(std::none_of(log.begin(), log.end(),
                     [](const std::string& line) { return line.starts_with(Line("GET", kDiscoveryPath)); }));
}

}  // namespace
}  // namespace cnpa
