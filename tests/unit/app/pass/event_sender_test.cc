// SPDX-License-Identifier: Apache-2.0
#include "app/pass/event_sender.h"

#include <string>
#include <vector>

#include "kube/codec/event_codec.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/fake_api_server.h"
#include "support/text.h"

namespace cnpa {
namespace {

using Lines = std::vector<std::string>;

const std::string kEvents = "/apis/events.k8s.io/v1/namespaces/default/events";

Event EventAbout(const std::string& identity) {
  return {.team_space = "red",
          .uid = "uid-red",
          .reason = "Repaired",
          .action = "Repair",
          .note = "words",
          .identity = identity};
}

std::vector<Event> ManyEvents(std::size_t count) {
  std::vector<Event> events;
  events.reserve(count);
  for (std::size_t i = 0; i < count; ++i) events.push_back(EventAbout(std::to_string(i)));
  return events;
}

struct Bench {
  /// Sends `events` and returns what the log says.
  Lines Send(const std::vector<Event>& events) {
    Lines lines;
    const Log log(LogLevel::kDebug, LogFormat::kText, [&lines](const LogEntry& entry) {
      lines.push_back((entry.level == LogLevel::kWarn ? "warn: " : "debug: ") + entry.text);
    });
    Client client(server, std::chrono::seconds(15));
    EventSender{.client = client, .log = log, .concurrency = concurrency, .instance = "host-1"}.Send(events, kNow);
    writes = client.writes();
    return lines;
  }

  FakeApiServer server;
  std::size_t concurrency = 4;
  std::uint64_t writes = 0;
};

TEST_CASE("EventSender makes an event, then counts it", "[app][event_sender]") {
  Bench bench;
  const Event event = EventAbout("a");
  const std::string path = EventPath(event);
  CHECK(bench.Send({event}).empty());
  CHECK(bench.server.TakeWrites() == Lines{"POST " + kEvents});
  CHECK(bench.server.At(path, "/note") == R"("words")");
  CHECK(bench.server.At(path, "/series").empty());
  for (const std::string count : {"2", "3", "4"}) {
    CHECK(bench.Send({event}).empty());
    CHECK(bench.server.TakeWrites() == Lines{"POST " + kEvents, "PATCH " + path});
    CHECK(bench.server.At(path, "/series/count") == count);
  }
  CHECK(bench.server.At(path, "/series/lastObservedTime") == R"("2031-05-06T07:08:09.000000Z")");
}

TEST_CASE("EventSender counts nothing as a write, and sends no event twice", "[app][event_sender]") {
  Bench bench;
  CHECK(bench.Send({EventAbout("a"), EventAbout("b"), EventAbout("a")}).empty());
  CHECK(bench.server.TakeWrites().size() == 2);
  CHECK(bench.writes == 0);
  CHECK(bench.Send({}).empty());
  CHECK(bench.server.TakeWrites().empty());
}

TEST_CASE("EventSender has as many on their way as it may, and sends so many at most", "[app][event_sender]") {
  for (const std::size_t concurrency : {1U, 3U}) {
    Bench bench;
    bench.concurrency = concurrency;
    CHECK(bench.Send(ManyEvents(kMostEvents)).empty());
    CHECK(bench.server.most_at_once == concurrency);
    CHECK(bench.server.TakeWrites().size() == kMostEvents);
  }
  Bench bench;
  CHECK(bench.Send(ManyEvents(kMostEvents + 2)) == Lines{"debug: 2 events of this pass are not sent: more than 100"});
  CHECK(bench.server.TakeWrites().size() == kMostEvents);
}

TEST_CASE("EventSender gives up where nobody has time or no right is there, and else goes on", "[app][event_sender]") {
  struct Case {
    std::string name;
    Result<Response> answer;
    std::size_t sent;  ///< Of three, one at a time.
    Lines told;
  };
  const std::string post = "POST " + kEvents + ": ";
  const std::string refused = "debug: an event is not sent: " + post + "422 Invalid: no";
  const std::vector<Case> cases{
      {"no right",
       StatusAnswer(403, "Forbidden",
                    R"(User \"cnpa-op\" cannot create resource \"events\" in API group \"events.k8s.io\")"),
       1,
       {"warn: no events are sent: forbidden: user \"cnpa-op\" cannot create events: cnpa-op rbac | kubectl apply -f "
        "-, or --no-events"}},
      {"no credentials any more",
       StatusAnswer(401, "Unauthorized", "no"),
       1,
       {"warn: no events are sent: unauthorized: the server refuses our credentials"}},
      {"no answer", Fail(ErrorCode::kUnavailable, "reset"), 1, {"debug: an event is not sent: reset"}},
      {"no connection", Fail(ErrorCode::kUnreachable, "refused"), 1, {"debug: an event is not sent: refused"}},
      {"the pass is over", Fail(ErrorCode::kStopped, "not sent"), 1, {"debug: an event is not sent: not sent"}},
      {"429",
       StatusAnswer(429, "TooManyRequests", "later"),
       1,
       {"debug: an event is not sent: " + post + "429 TooManyRequests: later"}},
      {"refused", StatusAnswer(422, "Invalid", "no", R"({"name":"x"})"), 3, {refused, refused, refused}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Bench bench;
      bench.concurrency = 1;
      bench.server.failure = {"POST " + kEvents, c.answer};
      CHECK(bench.Send(ManyEvents(3)) == c.told);
      CHECK(bench.server.TakeWrites().size() == c.sent);
    }
  }
}

TEST_CASE("EventSender says once that a right lacks, however many are on their way", "[app][event_sender]") {
  Bench bench;
  bench.server.failure = {
      "POST " + kEvents,
      StatusAnswer(403, "Forbidden", R"(User \"u\" cannot create resource \"events\" in API group \"events.k8s.io\")")};
  CHECK(bench.Send(ManyEvents(9)).size() == 1);
  CHECK(bench.server.TakeWrites().size() == 4);
}

TEST_CASE("EventSender leaves an event that another pass counts, or that is gone meanwhile", "[app][event_sender]") {
  Bench bench;
  const Event event = EventAbout("a");
  const std::string path = EventPath(event);
  REQUIRE(bench.Send({event}).empty());
  SECTION("counted") {
    bench.server.before = [&](const Request& request) {
      if (request.method != Method::kPatch) return;
      bench.server.Put(path, R"({"kind":"Event","apiVersion":"v1","metadata":{"uid":"made-1"},"series":{"count":5}})");
    };
    CHECK(bench.Send({event}).size() == 1);
    CHECK(bench.server.At(path, "/series/count") == "5");
  }
  SECTION("gone before it is read") {
    bench.server.before = [&](const Request& request) {
      if (request.method == Method::kGet) bench.server.Erase(path);
    };
    CHECK(bench.Send({event}).size() == 1);
    CHECK_FALSE(bench.server.Has(path));
  }
  SECTION("gone before it is counted") {
    bench.server.before = [&](const Request& request) {
      if (request.method == Method::kPatch) bench.server.Erase(path);
    };
    CHECK(bench.Send({event}).size() == 1);
    CHECK_FALSE(bench.server.Has(path));
  }
  SECTION("not to be understood") {
    bench.server.Put(path, "{}");
    CHECK(bench.Send({event}) == Lines{"debug: an event is not sent: 'metadata.uid' is missing"});
  }
}

TEST_CASE("EventSender begins nothing in a pass that shall end", "[app][event_sender]") {
  Bench bench;
  const Event event = EventAbout("a");
  bench.server.stop = true;
  CHECK(bench.Send({event}).empty());
  CHECK(bench.server.requests.empty());
  bench.server.stop = false;
  REQUIRE(bench.Send({event}).empty());
  bench.server.before = [&](const Request& request) { bench.server.stop = request.method == Method::kGet; };
  CHECK(bench.Send({event}).empty());
  CHECK(bench.server.At(EventPath(event), "/series").empty());
}

}  // namespace
}  // namespace cnpa
