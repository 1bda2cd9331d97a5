// SPDX-License-Identifier: Apache-2.0
#include "kube/api/client.h"

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/answers.h"
#include "support/catch.h"
#include "support/fake_transport.h"
#include "support/text.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;

const Collection kThings{.resource = {"", "v1", "things", "Thing"}, .selector = "a=b"};
constexpr milliseconds kRequestTimeout{15000};

Response Ok(const std::string& body) {
  Response response;
  response.code = 200;
  response.content_type = "application/json";
  response.body = body;
  return response;
}

/// What the server answers to a write.
Response Written(int code = 200) {
  Response response = Ok(R"({"kind":"Thing","apiVersion":"v1"})");
  response.code = code;
  return response;
}

Response Refused(int code, const std::string& retry_after = {}) {
  Response response;
  response.code = code;
  response.retry_after = retry_after;
  response.body = R"({"message":"no","reason":"Because"})";
  return response;
}

Response Page(const std::string& items, const std::string& continue_token = {}) {
  return Ok(R"({"kind":"ThingList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":")" + continue_token +
            R"("},"items":[)" + items + "]}");
}

Result<Response> Away() {
  return Fail(ErrorCode::kUnavailable, "it is gone");
}

Result<Response> Unreachable() {
  return Fail(ErrorCode::kUnreachable, "cannot reach it");
}

/// Always the longest time between tries.
Client::Hooks LongestJitter() {
  return {.on_warning = {}, .random = [] { return 1.0; }};
}

/// Gives the answers of a script, one by one.
class Script {
 public:
  Script(std::initializer_list<Result<Response>> answers) : answers_(answers) {}
  Result<Response> operator()(const Request& /*request*/) {
    REQUIRE_FALSE(answers_.empty());
    Result<Response> answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }

 private:
  std::deque<Result<Response>> answers_;
};

/// What a list came to.
struct Listed {
  std::vector<std::string> items;
  int restarts = 0;
  int ends = 0;
  Status status;
  std::string resource_version;
};

Listed List(FakeTransport& transport) {
  Listed listed;
  Client client(transport, kRequestTimeout, LongestJitter());
  client.List(
      kThings,
      [&listed] {
        ++listed.restarts;
        listed.items.clear();
      },
      [&listed](std::string& item) -> Status {
        if (item == R"({"bad":1})") return Fail(ErrorCode::kMalformed, "bad item");
        listed.items.push_back(item);
        return {};
      },
      [&listed](Result<std::string> done) {
        ++listed.ends;
        listed.resource_version = done.value_or("");
        if (!done) listed.status = tl::unexpected<Error>(std::move(done).error());
      });
  client.RunUntilIdle();
  CHECK(listed.ends == 1);
  CHECK(client.writes() == 0);
  return listed;
}

using Lines = std::vector<std::string>;

TEST_CASE("Client::List gives all items of one page", "[kube][client]") {
  FakeTransport transport(Script{Page(R"({"a":1},{"a":2})")});
  transport.piece_bytes = 3;
  const Listed listed = List(transport);
  CHECK(ErrorOf(listed.status) == std::nullopt);
  CHECK(listed.items == Lines{R"({"a":1})", R"({"a":2})"});
  CHECK(listed.restarts == 0);
  CHECK(transport.Log() == Lines{"GET /api/v1/things?a=b&timeout=59s"});
  CHECK(transport.requests[0].timeout.count() == 0);  // A list may take the pass's time.
}

TEST_CASE("Client::List follows continue tokens, escaped, to the last page", "[kube][client]") {
  FakeTransport transport(Script{Page(R"({"a":1})", "x+/=&y"), Page(R"({"a":2})", "z"), Page(R"({"a":3})")});
  const Listed listed = List(transport);
  CHECK(ErrorOf(listed.status) == std::nullopt);
  CHECK(listed.items == Lines{R"({"a":1})", R"({"a":2})", R"({"a":3})"});
  CHECK(transport.Log() == Lines{"GET /api/v1/things?a=b&timeout=59s",
                                 "GET /api/v1/things?a=b&timeout=59s&continue=x%2B%2F%3D%26y",
                                 "GET /api/v1/things?a=b&timeout=59s&continue=z"});
}

TEST_CASE("Client::List makes a read again that failed for a passing reason", "[kube][client]") {
  struct Case {
    std::string name;
    Result<Response> first;
    milliseconds delay;
  };
  const std::vector<Case> cases{
      {"no answer", Away(), milliseconds(250)},
      {"no connection", Unreachable(), milliseconds(250)},
      {"429 with Retry-After", Refused(429, "1"), milliseconds(1250)},
      {"429 with Retry-After 0", Refused(429, "0"), milliseconds(250)},
      {"503", Refused(503), milliseconds(250)},
      {"504", Refused(504), milliseconds(250)},
      {"500 without InternalError", Refused(500), milliseconds(250)},
      {"410: the list became too old", Refused(410), milliseconds(250)},
      {"Retry-After as a date", Refused(503, "Fri, 31 Dec 1999 23:59:59 GMT"), milliseconds(250)},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      FakeTransport transport(Script{c.first, Page(R"({"a":1})")});
      const Listed listed = List(transport);
      CHECK(ErrorOf(listed.status) == std::nullopt);
      CHECK(listed.items == Lines{R"({"a":1})"});
      CHECK(listed.restarts == 1);
      REQUIRE(transport.requests.size() == 2);
      CHECK(transport.requests[1].delay == c.delay);
    }
  }
}

TEST_CASE("Client::List begins from the first page when a later one fails, and forgets what came before",
          "[kube][client]") {
  FakeTransport transport(Script{Page(R"({"a":1})", "t"), Refused(410), Page(R"({"b":1})", "u"), Page(R"({"b":2})")});
  const Listed listed = List(transport);
  CHECK(ErrorOf(listed.status) == std::nullopt);
  CHECK(listed.items == Lines{R"({"b":1})", R"({"b":2})"});
  CHECK(listed.restarts == 1);
  CHECK(transport.Log() == Lines{"GET /api/v1/things?a=b&timeout=59s", "GET /api/v1/things?a=b&timeout=59s&continue=t",
                                 "GET /api/v1/things?a=b&timeout=59s",
                                 "GET /api/v1/things?a=b&timeout=59s&continue=u"});
}

TEST_CASE("Client::List gives up after four tries, each after a longer wait than the one before", "[kube][client]") {
  FakeTransport transport([](const Request&) { return Away(); });
  const Listed listed = List(transport);
  CHECK(ErrorOf(listed.status) == Error{ErrorCode::kUnavailable, "it is gone"});
  REQUIRE(transport.requests.size() == 4);
  CHECK(transport.requests[0].delay == milliseconds(0));
  CHECK(transport.requests[1].delay == milliseconds(250));
  CHECK(transport.requests[2].delay == milliseconds(500));
  CHECK(transport.requests[3].delay == milliseconds(1000));
}

TEST_CASE("Client::List does not wait for a Retry-After that does not fit a pass", "[kube][client]") {
  FakeTransport transport(Script{Refused(429, "60")});
  const Listed listed = List(transport);
  CHECK(ErrorOf(listed.status) == Error{ErrorCode::kUnavailable, "GET /api/v1/things: 429 Because: no"});
}

TEST_CASE("Client::List does not try again when the pass is told to end", "[kube][client]") {
  FakeTransport transport(Script{Away()});
  transport.stop = true;
  CHECK(ErrorOf(List(transport).status) == Error{ErrorCode::kUnavailable, "it is gone"});
}

TEST_CASE("Client::List passes on that the pass was told to end, and names the list", "[kube][client]") {
  FakeTransport transport(Script{Fail(ErrorCode::kStopped, "not sent: told to end")});
  CHECK(ErrorOf(List(transport).status) == Error{ErrorCode::kStopped, "list things: not sent: told to end"});
}

TEST_CASE("Client::List tells what went wrong before, when the pass ends ahead of another try", "[kube][client]") {
  FakeTransport transport(Script{Away(), Fail(ErrorCode::kStopped, "not sent: --timeout is over")});
  CHECK(ErrorOf(List(transport).status) == Error{ErrorCode::kUnavailable, "it is gone"});
}

TEST_CASE("Client::List fails at once where trying again can't help", "[kube][client]") {
  struct Case {
    std::string name;
    Result<Response> answer;
    Error want;
  };
  const std::vector<Case> cases{
      {"401", Refused(401), {ErrorCode::kDenied, "unauthorized: the server refuses our credentials"}},
      {"404", Refused(404), {ErrorCode::kNotFound, "GET /api/v1/things: 404 Because: no"}},
      {"a redirect",
       Refused(302),
       {ErrorCode::kInvalid,
        "GET /api/v1/things: 302: a redirect, which is not followed: check 'server' in the kubeconfig, and the proxy"}},
      {"an answer of no content", Refused(204), {ErrorCode::kInvalid, "GET /api/v1/things: 204 Because: no"}},
      {"a certificate that is not trusted",
       Fail(ErrorCode::kInvalid, "not trusted"),
       {ErrorCode::kInvalid, "not trusted"}},
      {"an item that does not decode", Page(R"({"a":1},{"bad":1})"), {ErrorCode::kMalformed, "list things: bad item"}},
      {"a list that ends in the middle",
       Ok(R"({"kind":"ThingList","items":[{"a":1})"),
       {ErrorCode::kMalformed, "list things: the answer ends in the middle"}},
      {"another list",
       Ok(R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]})"),
       {ErrorCode::kMalformed, "list things: expected a ThingList of v1, got 'PodList' of 'v1'"}},
      {"an empty answer", Ok(""), {ErrorCode::kMalformed, "list things: empty answer"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      FakeTransport transport(Script{c.answer});
      CHECK(ErrorOf(List(transport).status) == c.want);
      CHECK(transport.requests.size() == 1);
    }
  }
}

TEST_CASE("Client in a dry run marks whatever it sends but reads", "[kube][client]") {
  FakeTransport transport(Script{Page(""), Ok("{}"), Ok("{}"), Written(), Written()});
  Client client(transport, kRequestTimeout, {}, WriteMode::kDryRun);
  const auto ignore = [](const auto&) {};
  client.List(
      kThings, [] {}, [](std::string&) { return Status(); }, ignore);
  client.Get("/get", ignore);
  client.Ask("/ask", "{}", ignore);
  client.Write({.method = Method::kPatch, .path = "/patch?x=y"}, ignore);
  client.Write({.method = Method::kDelete, .path = "/delete", .body = R"({"kind":"DeleteOptions"})"}, ignore);
  client.RunUntilIdle();
  CHECK(transport.Log() == Lines{"GET /api/v1/things?a=b&timeout=59s", "GET /get?timeout=14s",
                                 "POST /ask?timeout=14s&dryRun=All", "PATCH /patch?x=y&timeout=14s&dryRun=All",
                                 "DELETE /delete?timeout=14s&dryRun=All"});
  CHECK(transport.requests.back().body == R"({"dryRun":["All"],"kind":"DeleteOptions"})");
}

TEST_CASE("Client in a dry run sends nothing that it can't mark, and marks each try", "[kube][client]") {
  FakeTransport transport(Script{Refused(429), Written()});
  Client client(transport, kRequestTimeout, LongestJitter(), WriteMode::kDryRun);
  std::optional<Error> unmarked;
  client.Write({.method = Method::kDelete, .path = "/p", .body = "[]"},
               [&unmarked](const auto& done) { unmarked = ErrorOf(done); });
  client.RunUntilIdle();
  REQUIRE(unmarked);
  CHECK(unmarked->code == ErrorCode::kInvalid);
  CHECK(transport.requests.empty());
  client.Write({.method = Method::kPatch, .path = "/p"}, [](const auto& done) { CHECK(done); });
  client.RunUntilIdle();
  CHECK(transport.Log() == Lines(2, "PATCH /p?timeout=14s&dryRun=All"));
}

TEST_CASE("Client in a dry run says of a lost answer that it is lost, and no more", "[kube][client]") {
  FakeTransport transport(Script{Away()});
  Client client(transport, kRequestTimeout, {}, WriteMode::kDryRun);
  std::optional<Error> error;
  client.Write({.method = Method::kPatch, .path = "/p"}, [&error](const auto& done) { error = ErrorOf(done); });
  client.RunUntilIdle();
  CHECK(error == Error{ErrorCode::kUnavailable, "it is gone"});
}

TEST_CASE("Client::List ends a list whose pages go round in circles", "[kube][client]") {
  const Error want{ErrorCode::kMalformed, "list things: its pages go round in circles: a continue token came twice"};
  FakeTransport same(Script{Page("", "x"), Page("", "x")});
  CHECK(ErrorOf(List(same).status) == want);
  FakeTransport circle(Script{Page("", "x"), Page("", "y"), Page("", "z"), Page("", "x")});
  CHECK(ErrorOf(List(circle).status) == want);
  // A list that begins anew may have the same pages.
  FakeTransport anew(Script{Page(R"({"a":1})", "x"), Away(), Page(R"({"a":1})", "x"), Page("")});
  CHECK(ErrorOf(List(anew).status) == std::nullopt);
}

TEST_CASE("Client::List gives up a list of more objects than anybody has, in one page or in many", "[kube][client]") {
  const Error want{ErrorCode::kMalformed, "list things: the list is too large: it has more objects than are taken"};
  std::string half = "{}";
  for (int i = 1; i < 25000; ++i) half += ",{}";
  FakeTransport most(Script{Page(half, "x"), Page(half)});
  CHECK(ErrorOf(List(most).status) == std::nullopt);
  FakeTransport one_page(Script{Page(half + "," + half + ",{}")});
  CHECK(ErrorOf(List(one_page).status) == want);
  FakeTransport pages(Script{Page(half, "x"), Page(half, "y"), Page("{}")});
  CHECK(ErrorOf(List(pages).status) == want);
}

TEST_CASE("Client::List takes a 403 for a starting server's until /readyz says 200", "[kube][client]") {
  const Error missing{ErrorCode::kDenied,
                      "forbidden: user \"cnpa-op\" cannot list namespaces: cnpa-op rbac | kubectl apply -f -"};
  const Error starts{ErrorCode::kUnavailable, "the API server is not ready yet"};
  const Error either{ErrorCode::kDenied,
                     "the API server is not ready yet, or does not let user \"cnpa-op\" list namespaces: it refuses "
                     "/readyz as well"};
  struct Case {
    std::string name;
    Result<Response> ready;
    Error want;
    std::size_t requests = 8;  // Each try asks /readyz.
  };
  const std::vector<Case> cases{
      {"200", Ok("ok"), missing, 2},
      {"a gateway that passes /api and /apis only", Refused(404), either},
      {"a proxy that answers 403 to all", Refused(403), either},
      {"401", Refused(401), either},
      {"a redirect", Refused(302), either},
      {"429", Refused(429), starts},
      {"500", Refused(500), starts},
      {"503", Refused(503), starts},
      {"no answer", Away(), starts},
      {"no connection", Unreachable(), starts},
      {"not asked any more", Fail(ErrorCode::kStopped, "not sent"), {ErrorCode::kStopped, "list things: not sent"}, 2},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      FakeTransport transport([&c](const Request& request) -> Result<Response> {
        return request.path == "/readyz?timeout=14s" ? c.ready : Answer("403-list-namespaces-rbac.json");
      });
      CHECK(ErrorOf(List(transport).status) == c.want);
      CHECK(transport.requests.size() == c.requests);
    }
  }
}

TEST_CASE("Client::List tries again after a 403 of a server that is not ready", "[kube][client]") {
  const int code = GENERATE(403, 404, 500);
  FakeTransport transport(Script{Answer("403-list-namespaces-rbac.json"), Refused(code), Page(R"({"a":1})")});
  const Listed listed = List(transport);
  CHECK(ErrorOf(listed.status) == std::nullopt);
  CHECK(listed.items == Lines{R"({"a":1})"});
  CHECK(listed.restarts == 1);
}

Result<std::string> Get(FakeTransport& transport) {
  Result<std::string> got = Fail(ErrorCode::kStopped, "never called");
  Client client(transport, kRequestTimeout, LongestJitter());
  client.Get("/x?y", [&got](Result<std::string> body) { got = std::move(body); });
  client.RunUntilIdle();
  return got;
}

TEST_CASE("Client::Get returns the body, or says why not", "[kube][client]") {
  struct Case {
    std::string name;
    Result<Response> answer;
    std::optional<Error> want;
  };
  const std::vector<Case> cases{
      {"200", Ok("text"), std::nullopt},
      {"404", Refused(404), Error{ErrorCode::kNotFound, "GET /x: 404 Because: no"}},
      {"told to end", Fail(ErrorCode::kStopped, "told"), Error{ErrorCode::kStopped, "told"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      FakeTransport transport(Script{c.answer});
      const Result<std::string> got = Get(transport);
      CHECK(ErrorOf(got) == c.want);
      if (got) {
        CHECK(*got == "text");
      }
      REQUIRE(transport.requests.size() == 1);
      CHECK(transport.requests[0].timeout == kRequestTimeout);
    }
  }
}

TEST_CASE("Client::Get and Ask are made again when they failed for a passing reason", "[kube][client]") {
  const std::vector<std::pair<std::string, Result<Response>>> passing{
      {"429", Refused(429, "1")}, {"503", Refused(503)},     {"500", Refused(500)},
      {"no answer", Away()},      {"no way", Unreachable()},
  };
  for (const auto& [name, answer] : passing) {
    DYNAMIC_SECTION(name) {
      FakeTransport transport(Script{answer, answer, answer, Ok("text"), answer, Ok("reviewed")});
      CHECK(Get(transport).value_or("") == "text");
      REQUIRE(transport.requests.size() == 4);
      for (const Request& request : transport.requests) CHECK(request.timeout == kRequestTimeout);
      const milliseconds asked_for{name == "429" ? 1000 : 0};
      CHECK(transport.requests[1].delay == asked_for + milliseconds(250));
      CHECK(transport.requests[3].delay == asked_for + milliseconds(1000));

      Client client(transport, kRequestTimeout, LongestJitter());
      std::string reviewed;
      client.Ask("/reviews", "{}",
                 [&reviewed](const Result<std::string>& body) { reviewed = body.value_or("failed"); });
      client.RunUntilIdle();
      CHECK(reviewed == "reviewed");
      CHECK(transport.requests.back().body == "{}");
    }
  }
}

TEST_CASE("Client::Get gives up after four tries, or when the time or the server's patience is over",
          "[kube][client]") {
  struct Case {
    std::string name;
    std::vector<Result<Response>> answers;
    std::string want;
  };
  const Result<Response> stopped = Fail(ErrorCode::kStopped, "not sent");
  const std::vector<Case> cases{
      {"four times", {Refused(503), Refused(503), Refused(503), Refused(503)}, "GET /x: 503 Because: no"},
      {"a Retry-After that fits no pass", {Refused(429, "3600")}, "GET /x: 429 Because: no"},
      {"another reason", {Refused(503), Refused(404)}, "GET /x: 404 Because: no"},
      {"told to end between two tries", {Refused(503), stopped}, "GET /x: 503 Because: no"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      std::size_t next = 0;
      FakeTransport transport([&](const Request& /*request*/) { return c.answers.at(next++); });
      CHECK(ErrorOf(Get(transport)).value_or(Error{}).message == c.want);
      CHECK(next == c.answers.size());
    }
  }
}

Result<std::string> Write(FakeTransport& transport, std::uint64_t& writes, milliseconds timeout = kRequestTimeout) {
  Result<std::string> written = Fail(ErrorCode::kStopped, "never called");
  Client client(transport, timeout, LongestJitter());
  client.Write({.method = Method::kPatch, .path = "/x?y", .content_type = "t", .body = "b"},
               [&written](Result<std::string> answer) { written = std::move(answer); });
  client.RunUntilIdle();
  writes = client.writes();
  return written;
}

TEST_CASE("Client::Tell is made once within some seconds, is no write, and spoils nothing", "[kube][client]") {
  const std::vector<std::pair<std::string, Result<Response>>> answers{
      {"well", Response{.code = 201, .body = "{}"}},
      {"429", Response{.code = 429, .body = "later"}},
      {"503", Response{.code = 503, .body = "away"}},
      {"no connection", Fail(ErrorCode::kUnreachable, "refused")},
      {"no answer", Fail(ErrorCode::kUnavailable, "reset")},
  };
  for (const auto& [name, answer] : answers) {
    DYNAMIC_SECTION(name) {
      FakeTransport transport([&answer = answer](const Request&) { return answer; });
      Client client(transport, std::chrono::seconds(15));
      int ended = 0;
      // More than what would use the budget of failures up.
      for (int i = 0; i < 20; ++i) {
        client.Tell({.method = Method::kPost, .path = "/events"}, [&ended](const Result<std::string>&) { ++ended; });
      }
      client.RunUntilIdle();
      CHECK(ended == 20);
      CHECK(transport.requests.size() == 20);
      CHECK(transport.requests.front().path == "/events?timeout=2s");
      CHECK(transport.requests.front().timeout == std::chrono::seconds(3));
      CHECK(client.writes() == 0);
      CHECK_FALSE(client.exhausted());
    }
  }
  FakeTransport transport([](const Request&) { return Response{.code = 201, .body = "{}"}; });
  Client client(transport, std::chrono::seconds(1));
  client.Tell({.method = Method::kPost, .path = "/events"}, [](const Result<std::string>&) {});
  client.RunUntilIdle();
  CHECK(transport.requests.front().timeout == std::chrono::seconds(1));
}

TEST_CASE("Client::Ask posts a question, whose answer is no write", "[kube][client]") {
  FakeTransport transport(Script{Ok(R"({"status":{"allowed":true}})")});
  Client client(transport, kRequestTimeout, LongestJitter());
  Result<std::string> got = Fail(ErrorCode::kUnavailable, "no answer");
  client.Ask("/reviews", R"({"spec":{}})", [&got](Result<std::string> body) { got = std::move(body); });
  client.RunUntilIdle();
  REQUIRE(got);
  CHECK(*got == R"({"status":{"allowed":true}})");
  REQUIRE(transport.requests.size() == 1);
  CHECK(transport.requests[0].method == Method::kPost);
  CHECK(transport.requests[0].content_type == "application/json");
  CHECK(transport.requests[0].body == R"({"spec":{}})");
  CHECK(client.writes() == 0);
}

TEST_CASE("Client::Write sends the request once, with a server timeout a little shorter than ours", "[kube][client]") {
  struct Case {
    milliseconds timeout;
    std::string want;
  };
  const std::vector<Case> cases{{milliseconds(15000), "/x?y&timeout=14s"},
                                {milliseconds(2000), "/x?y&timeout=1s"},
                                {milliseconds(1000), "/x?y&timeout=1s"},
                                {milliseconds(60000), "/x?y&timeout=59s"}};
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.timeout.count() << " ms") {
      FakeTransport transport(Script{Written(201)});
      std::uint64_t writes = 0;
      CHECK(ErrorOf(Write(transport, writes, c.timeout)) == std::nullopt);
      CHECK(writes == 1);
      REQUIRE(transport.requests.size() == 1);
      CHECK(transport.requests[0].path == c.want);
      CHECK(transport.requests[0].timeout == c.timeout);
      CHECK(transport.requests[0].body == "b");
      CHECK(transport.requests[0].content_type == "t");
    }
  }
}

TEST_CASE("Client::Write makes a write again that surely did not happen: after 429, or without a connection",
          "[kube][client]") {
  FakeTransport transport(Script{Refused(429, "2"), Unreachable(), Written()});
  std::uint64_t writes = 0;
  CHECK(ErrorOf(Write(transport, writes)) == std::nullopt);
  CHECK(writes == 1);
  REQUIRE(transport.requests.size() == 3);
  CHECK(transport.requests[1].delay == milliseconds(2250));
  CHECK(transport.requests[2].delay == milliseconds(500));
  CHECK(transport.requests[2].path == "/x?y&timeout=14s");
}

TEST_CASE("Client::Write gives up after three times 429", "[kube][client]") {
  FakeTransport transport([](const Request&) { return Refused(429); });
  std::uint64_t writes = 0;
  CHECK(ErrorOf(Write(transport, writes)) == Error{ErrorCode::kUnavailable, "PATCH /x: 429 Because: no"});
  CHECK(transport.requests.size() == 3);
}

TEST_CASE("Client::Write never makes a write again for another reason", "[kube][client]") {
  struct Case {
    std::string name;
    Result<Response> answer;
    ErrorCode want;
    std::uint64_t writes;
  };
  const std::vector<Case> cases{
      {"no answer: it may have happened", Away(), ErrorCode::kUnavailable, 1},
      {"500", Refused(500, "1"), ErrorCode::kUnavailable, 1},
      {"503 with Retry-After", Refused(503, "1"), ErrorCode::kUnavailable, 1},
      {"504: it may have happened", Refused(504), ErrorCode::kUnavailable, 1},
      {"a failed test", Answer("422-failed-test.json"), ErrorCode::kConflict, 0},
      {"409 of nobody knows what", Refused(409), ErrorCode::kInvalid, 0},
      {"404 of nobody knows what", Refused(404), ErrorCode::kInvalid, 0},
      {"403", Refused(403), ErrorCode::kInvalid, 0},
      {"429 that does not fit a pass", Refused(429, "60"), ErrorCode::kUnavailable, 0},
      {"not sent", Fail(ErrorCode::kStopped, "not sent"), ErrorCode::kStopped, 0},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      FakeTransport transport(Script{c.answer});
      std::uint64_t writes = 0;
      const Result<std::string> written = Write(transport, writes);
      REQUIRE_FALSE(written);
      CHECK(written.error().code == c.want);
      CHECK(transport.requests.size() == 1);
      CHECK(writes == c.writes);
    }
  }
}

TEST_CASE("Client::Write does not repeat a 429 when the pass is told to end", "[kube][client]") {
  FakeTransport transport(Script{Refused(429)});
  transport.stop = true;
  std::uint64_t writes = 0;
  CHECK_FALSE(Write(transport, writes));
}

TEST_CASE("Client::Write says of a write that may have happened that it may have", "[kube][client]") {
  constexpr std::string_view kWords = "it may still have been applied";
  for (const auto& [answer, may_have] : {std::pair{Away(), true},
                                         {Result<Response>(Refused(504)), true},
                                         {Result<Response>(Refused(500)), true},
                                         {Result<Response>(Refused(409)), false},
                                         {Result<Response>(Refused(422)), false}}) {
    FakeTransport transport(Script{answer});
    std::uint64_t writes = 0;
    const Result<std::string> written = Write(transport, writes);
    REQUIRE_FALSE(written);
    CAPTURE(written.error().message);
    CHECK(Contains(written.error().message, kWords) == may_have);
  }
}

TEST_CASE("Client::Write returns the answer", "[kube][client]") {
  FakeTransport transport(Script{Written(201)});
  std::uint64_t writes = 0;
  CHECK(Write(transport, writes) == R"({"kind":"Thing","apiVersion":"v1"})");
}

TEST_CASE("Client::Write takes no answer that can't be read for a refusal", "[kube][client]") {
  FakeTransport transport(Script{Fail(ErrorCode::kMalformed, "the answer is too large")});
  std::uint64_t writes = 0;
  CHECK(ErrorOf(Write(transport, writes)) ==
        Error{ErrorCode::kUnavailable,
              "PATCH /x: the answer is too large: it may still have been applied; the next pass will tell"});
  CHECK(writes == 1);
}

TEST_CASE("Client::Write believes nothing but an answer of the API server", "[kube][client]") {
  for (const char* body :
       {"", "<html></html>", "{}", "[]", R"({"kind":"Thing"})", R"({"kind":"Thing","apiVersion":)"}) {
    FakeTransport transport(Script{Ok(body)});
    std::uint64_t writes = 0;
    CAPTURE(body);
    CHECK(ErrorOf(Write(transport, writes)) == Error{ErrorCode::kUnavailable,
                                                     "PATCH /x: the answer is not the API server's: it may still "
                                                     "have been applied; the next pass will tell"});
    CHECK(writes == 1);
  }
}

TEST_CASE("Client sends a server that fails again and again no more than its budget", "[kube][client]") {
  FakeTransport transport([](const Request&) { return Refused(503); });
  Client client(transport, kRequestTimeout, LongestJitter());
  int sent = 0;
  for (; sent < 100 && !client.stopping(); ++sent) {
    client.Write({.method = Method::kPatch, .path = "/x", .content_type = "t", .body = "b"}, [](const auto&) {});
    client.RunUntilIdle();
  }
  CHECK(sent == 10);
  CHECK(client.exhausted());
}

TEST_CASE("Client counts its requests by verb and answer, each try for itself", "[kube][client]") {
  FakeTransport transport(Script{Away(), Page(""), Ok("{}"), Ok("{}"), Refused(429), Written(201), Refused(409),
                                 Written(), Fail(ErrorCode::kStopped, "not sent")});
  Client client(transport, kRequestTimeout, LongestJitter());
  client.List(
      kThings, [] {}, [](std::string& /*item*/) { return Status(); }, [](const Result<std::string>&) {});
  client.RunUntilIdle();
  client.Get("/readyz", [](const Result<std::string>&) {});
  client.Get("/things?fieldSelector=metadata.name%3Da", [](const Result<std::string>&) {});
  for (const Method method : {Method::kPost, Method::kPatch, Method::kDelete, Method::kDelete}) {
    client.Write({.method = method, .path = "/x", .content_type = "t", .body = "b"}, [](const auto&) {});
    client.RunUntilIdle();
  }
  CHECK(client.requests() == RequestCounts{{{"list", 0}, 1},
                                           {{"list", 200}, 2},
                                           {{"get", 200}, 1},
                                           {{"create", 201}, 1},
                                           {{"create", 429}, 1},
                                           {{"patch", 409}, 1},
                                           {{"delete", 200}, 1}});
}

TEST_CASE("Client goes on where writes of single objects fail", "[kube][client]") {
  FakeTransport transport([](const Request&) { return Refused(500); });
  Client client(transport, kRequestTimeout, LongestJitter());
  for (int i = 0; i < 100; ++i) {
    client.Write({.method = Method::kPatch, .path = "/x", .content_type = "t", .body = "b"}, [](const auto&) {});
    client.RunUntilIdle();
  }
  CHECK_FALSE(client.stopping());
}

TEST_CASE("Client goes on where some requests fail and most do not", "[kube][client]") {
  int count = 0;
  FakeTransport transport([&count](const Request&) { return ++count % 20 == 0 ? Refused(503) : Written(); });
  Client client(transport, kRequestTimeout, LongestJitter());
  for (int i = 0; i < 1000; ++i) {
    REQUIRE_FALSE(client.stopping());
    client.Write({.method = Method::kPatch, .path = "/x", .content_type = "t", .body = "b"}, [](const auto&) {});
    client.RunUntilIdle();
  }
}

TEST_CASE("Client tells each warning of the server once", "[kube][client]") {
  std::vector<std::string> told;
  FakeTransport transport([](const Request& request) -> Result<Response> {
    Response response = Ok("{}");
    response.warnings = {R"(299 - "use \"v2\"")",
                         request.path.starts_with("/b") ? "299 - \"b\"" : "199 - \"not ours\""};
    return response;
  });
  Client client(transport, kRequestTimeout,
                {.on_warning = [&told](const std::string& text) { told.push_back(text); }, .random = {}});
  for (const char* path : {"/a", "/b", "/a", "/b"}) client.Get(path, [](const Result<std::string>&) {});
  client.RunUntilIdle();
  CHECK(told == Lines{"use \"v2\"", "b"});
}

TEST_CASE("WarningText takes what Kubernetes sends", "[kube][client]") {
  CHECK(WarningText(R"(299 - "unknown field \"spec.x\"")") == "unknown field \"spec.x\"");
  CHECK(WarningText(R"(299 host "text" "date")") == "text");
  CHECK(WarningText("299 - \"no end") == "no end");
  for (const char* none : {"", "299", "299 - ", "299 - \"\"", "199 - \"other code\"", "text"}) {
    CHECK(WarningText(none) == std::nullopt);
  }
}

}  // namespace
}  // namespace cnpa
