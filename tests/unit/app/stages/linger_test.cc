// SPDX-License-Identifier: Apache-2.0
#include "app/stages/linger.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/plan/change.h"
#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/fake_api_server.h"
#include "support/fake_transport.h"

namespace cnpa {
namespace {

using namespace std::chrono_literals;

const std::string kBookmark = R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}})";
const std::string kMayNotWatch = R"(teamspaces.platform.labhub.io is forbidden: User "cnpa-op" cannot watch )"
                                 R"(resource "teamspaces" in API group "platform.labhub.io" at the cluster scope)";
const std::string kExpired = R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})";

std::string Event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}";
}

std::string QuotaJson(const std::string& team, const std::string& pods, const std::string& used = "0") {
  return R"({"metadata":{"name":"team-quota","namespace":"team-)" + team + R"(","uid":"uid-quota-)" + team +
         R"("},"spec":{"hard":{"pods":")" + pods + R"(","requests.cpu":"2"}},"status":{"used":{"pods":")" + used +
         R"("}}})";
}

std::string NamespaceJson(const std::string& name) {
  return R"({"metadata":{"name":")" + name + R"(","uid":"uid-ns"}})";
}

/// What the server says on each watch, and what came of it.
struct Bench {
  std::map<std::string, std::vector<std::string>> events;  ///< By the kind of the list.
  std::map<std::string, Result<Response>> answers;         ///< In place of those.
  std::vector<std::string> paths;
  int computed = 0;
  std::size_t largest = 0;  ///< Of what was looked at, in objects.

  Wake Run(const Observation& cluster, std::chrono::milliseconds most = 1h) {
    FakeTransport transport([this](const Request& request) { return Answer(request); });
    Client client(transport, 15s);
    const auto has_work = [this](const Observation& excerpt) {
      ++computed;
      largest = std::max(largest, excerpt.team_spaces.size() + excerpt.namespaces.size() + excerpt.quotas.size());
      return !ComputePlan(excerpt).empty();
    };
    return Linger(client, cluster, {.team_spaces = "1", .namespaces = "2", .quotas = "3"},
                  {.most = most, .has_work = has_work, .now = [] { return kNow; }});
  }

 private:
  Result<Response> Answer(const Request& request) {
    paths.push_back(request.path);
    CHECK(request.is_watch);
    for (const Collection* collection : {&kTeamSpaces, &kNamespaces, &kQuotas}) {
      if (!request.path.starts_with(collection->path())) continue;
      const std::string kind = collection->list_kind();
      if (const auto answer = answers.find(kind); answer != answers.end()) return answer->second;
      Response response{.code = 200};
      for (const std::string& event : events[kind]) response.body += event + "\n";
      return response;
    }
    return Fail(ErrorCode::kUnavailable, "not asked for");
  }
};

TEST_CASE("Linger watches what was listed, from where the lists stand", "[app][linger]") {
  Bench bench;
  bench.answers = {{"ResourceQuotaList", Fail(ErrorCode::kUnavailable, "gone")}};
  bench.Run(ConvergedCluster({"red"}), 10s);
  REQUIRE(!bench.paths.empty());
  CHECK(bench.paths.front() ==
        "/apis/platform.labhub.io/v1alpha1/"
        "teamspaces?watch=1&resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=15");
}

TEST_CASE("Linger wakes by what a pass has to do, and by nothing else", "[app][linger]") {
  struct Case {
    std::string name;
    std::string kind;
    std::vector<std::string> events;
    bool wakes;
    int computed;
  };
  const std::string drifted = Event("MODIFIED", QuotaJson("red", "99"));
  const std::vector<Case> cases{
      {"nothing", "ResourceQuotaList", {}, false, 0},
      {"a bookmark", "ResourceQuotaList", {kBookmark}, false, 0},
      {"a quota that is used", "ResourceQuotaList", {Event("MODIFIED", QuotaJson("red", "6", "3"))}, false, 0},
      {"a quota that is changed", "ResourceQuotaList", {kBookmark, drifted}, true, 1},
      {"the same event twice", "ResourceQuotaList", {drifted, drifted}, true, 1},
      {"a quota that is deleted", "ResourceQuotaList", {Event("DELETED", QuotaJson("red", "6"))}, true, 1},
      {"a quota of nobody's", "ResourceQuotaList", {Event("ADDED", QuotaJson("other", "6"))}, false, 1},
      {"a quota in another's namespace",
       "ResourceQuotaList",
       {Event("ADDED", R"({"metadata":{"name":"team-quota","namespace":"kube-red","uid":"u"},"spec":{"hard":{}}})")},
       false,
       0},
      {"one of nobody's that is deleted", "ResourceQuotaList", {Event("DELETED", QuotaJson("other", "6"))}, false, 0},
      {"another's namespace", "NamespaceList", {Event("ADDED", NamespaceJson("default"))}, false, 0},
      {"our namespace without its label", "NamespaceList", {Event("MODIFIED", NamespaceJson("team-red"))}, true, 1},
      {"our namespace is gone", "NamespaceList", {Event("DELETED", NamespaceJson("team-red"))}, true, 1},
      {"a new team space",
       "TeamSpaceList",
       {Event("ADDED", R"({"metadata":{"name":"new","uid":"u","generation":1},"spec":{"pods":1}})")},
       true,
       1},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Bench bench;
      bench.events[c.kind] = c.events;
      const Wake wake = bench.Run(ConvergedCluster({"red"}));
      CHECK((wake.cause == WakeCause::kSomethingToDo) == c.wakes);
      CHECK(bench.computed == c.computed);
      if (!c.wakes) CHECK(wake.cause == WakeCause::kWatchEnded);  // Here the server ends each at once.
    }
  }
}

TEST_CASE("Linger ends with the first watch that ends, and says why", "[app][linger]") {
  struct Case {
    std::string name;
    Result<Response> answer;
    WakeCause cause;
    std::string words;
  };
  const auto line = [](const std::string& text) {
    Response response{.code = 200};
    response.body = text + "\n";
    return response;
  };
  const std::vector<Case> cases{
      {"the server ends it", Response{.code = 200}, WakeCause::kWatchEnded, "watch teamspaces: ended by the server"},
      {"what happened since is forgotten", line(kExpired), WakeCause::kWatchEnded, "too old"},
      {"410", StatusAnswer(410, "Expired", "too old"), WakeCause::kWatchEnded, "too old"},
      {"a right that lacks", StatusAnswer(403, "Forbidden", kMayNotWatch), WakeCause::kForbidden, "cannot watch"},
      {"credentials that are taken no more", StatusAnswer(401, "Unauthorized", "no"), WakeCause::kWatchEnded,
       "unauthorized"},
      {"the way is broken", Fail(ErrorCode::kUnavailable, "reset"), WakeCause::kWatchEnded, "watch teamspaces: reset"},
      {"the pass is told to end", Fail(ErrorCode::kStopped, "told"), WakeCause::kToldToEnd, "told to end"},
      {"no JSON", line("<html>"), WakeCause::kWatchEnded, "watch teamspaces: "},
      {"no event", line(R"({"type":"NEWS","object":{}})"), WakeCause::kWatchEnded, "'NEWS' is no type"},
      {"no object", line(R"({"type":"ADDED"})"), WakeCause::kWatchEnded, "no object"},
      {"an object without a name", line(R"({"type":"ADDED","object":{"metadata":{"uid":"u"}}})"),
       WakeCause::kWatchEnded, "metadata.name"},
      {"another kind of object", line(R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","uid":"u"}}})"),
       WakeCause::kWatchEnded, "'kind' is 'Pod'"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Bench bench;
      bench.answers.emplace("TeamSpaceList", c.answer);
      const Wake wake = bench.Run(ConvergedCluster({"red"}));
      CHECK(wake.cause == c.cause);
      CAPTURE(wake.words);
      CHECK(wake.words.find(c.words) != std::string::npos);
    }
  }
}

TEST_CASE("Linger waits a little for what comes with work, and names the team space if that is one", "[app][linger]") {
  const std::string red = Event("MODIFIED", QuotaJson("red", "99"));
  Bench bench;
  bench.events["NamespaceList"] = {Event("MODIFIED", NamespaceJson("team-red"))};
  bench.events["ResourceQuotaList"] = {red};
  CHECK(bench.Run(ConvergedCluster({"blue", "red"})) ==
        Wake{WakeCause::kSomethingToDo, "red", "something to do about red"});
  bench.events["ResourceQuotaList"] = {Event("MODIFIED", QuotaJson("blue", "99"))};
  CHECK(bench.Run(ConvergedCluster({"blue", "red"})) ==
        Wake{WakeCause::kSomethingToDo, "", "something to do about several team spaces"});
  // Somebody else was faster: a look does no harm.
  bench.events = {{"ResourceQuotaList", {red, Event("MODIFIED", QuotaJson("red", "6"))}}};
  CHECK(bench.Run(ConvergedCluster({"blue", "red"})).cause == WakeCause::kSomethingToDo);
}

TEST_CASE("Linger looks at the team space that an event is about, and at no other", "[app][linger]") {
  std::vector<std::string> names;
  for (int i = 100; i < 400; ++i) names.push_back("t" + std::to_string(i));
  Observation cluster;
  Bench bench;
  for (const std::string& name : names) {
    cluster.team_spaces.push_back(TeamSpaceNamed(name));
    cluster.namespaces.push_back(NamespaceFor(name));
    cluster.quotas.push_back(QuotaFor(name));
    // As ours, and last written by somebody else.
    bench.events["ResourceQuotaList"].push_back(Event("MODIFIED", QuotaJson(name, "6000m")));
  }
  CHECK(bench.Run(cluster).cause != WakeCause::kSomethingToDo);
  CHECK(bench.computed == 300);
  CHECK(bench.largest == 3);
}

TEST_CASE("Linger says that its time is over when a watch ends then", "[app][linger]") {
  Bench bench;
  CHECK(bench.Run(ConvergedCluster({"red"}), 1ms).cause == WakeCause::kTimeOver);
}

TEST_CASE("Linger keeps what it knows in order, so that later events find it", "[app][linger]") {
  Bench bench;
  bench.events["ResourceQuotaList"] = {
      Event("ADDED", QuotaJson("other", "1")),   Event("ADDED", QuotaJson("abc", "1")),
      Event("DELETED", QuotaJson("other", "1")), Event("MODIFIED", QuotaJson("abc", "2")),
      Event("DELETED", QuotaJson("abc", "2")),   Event("MODIFIED", QuotaJson("red", "7"))};
  CHECK(bench.Run(ConvergedCluster({"blue", "red", "white"})) ==
        Wake{WakeCause::kSomethingToDo, "red", "something to do about red"});
  CHECK(bench.computed == 6);
}

}  // namespace
}  // namespace cnpa
