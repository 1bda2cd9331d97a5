// SPDX-License-Identifier: Apache-2.0
#include "kube/codec/event_codec.h"

#include <string>
#include <vector>

#include "support/builders.h"
#include "support/catch.h"
#include "support/text.h"

namespace cnpa {
namespace {

const Event kEvent{.team_space = "red",
                   .uid = "uid-red",
                   .warning = false,
                   .reason = "Repaired",
                   .action = "Repair",
                   .note = "ResourceQuota team-red/team-quota: pods 99 -> 6",
                   .related = {"ResourceQuota", "team-red", "team-quota"},
                   .identity = "spec.hard.pods"};

TEST_CASE("EventName is the same for what is alike, and another for all else", "[kube][event_codec]") {
  Event other = kEvent;
  SECTION("the words make no difference") {
    other.note = "ResourceQuota team-red/team-quota: pods 98 -> 6";
    other.warning = true;
    CHECK(EventName(other) == EventName(kEvent));
  }
  SECTION("uid") {
    other.uid = "uid-red-2";
  }
  SECTION("reason") {
    other.reason = "Contested";
  }
  SECTION("action") {
    other.action = "Refuse";
  }
  SECTION("identity") {
    other.identity = "spec.hard.requests.cpu";
  }
  SECTION("what moves from one part to the next") {
    other.reason = "RepairedR", other.action = "epair";
  }
  if (other.note == kEvent.note) CHECK(EventName(other) != EventName(kEvent));
}

TEST_CASE("EventName is a DNS subdomain that begins with the name of the TeamSpace", "[kube][event_codec]") {
  struct Case {
    std::string name;
    std::string team_space;
    std::string front;
  };
  const std::vector<Case> cases{
      {"as it is", "red", "red"},
      {"with dots", "a.b.c", "a.b.c"},
      {"the longest", std::string(253, 'a'), std::string(236, 'a')},
      {"cut at a dot", std::string(234, 'a') + ".-b" + std::string(16, 'c'), std::string(234, 'a')},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Event event = kEvent;
      event.team_space = c.team_space;
      const std::string name = EventName(event);
      CHECK(name.size() <= 253);
      CHECK(name.substr(0, name.size() - 17) == c.front);
      CHECK(name[name.size() - 17] == '.');
      CHECK(name.find_first_not_of("0123456789abcdef", name.size() - 16) == std::string::npos);
    }
  }
}

TEST_CASE("EncodeEvent writes what the server asks for", "[kube][event_codec]") {
  const Request request = EncodeEvent(kEvent, "host-1", kNow);
  CHECK(request.method == Method::kPost);
  CHECK(request.path == "/apis/events.k8s.io/v1/namespaces/default/events?fieldManager=cnpa-op&fieldValidation=Strict");
  CHECK(request.content_type == "application/json");
  CHECK(request.body == R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":")" + EventName(kEvent) +
                            R"(","namespace":"default"},"eventTime":"2031-05-06T07:08:09.000000Z",)"
                            R"("reportingController":"platform.labhub.io/cnpa-op","reportingInstance":"host-1",)"
                            R"("type":"Normal","reason":"Repaired","action":"Repair",)"
                            R"("note":"ResourceQuota team-red/team-quota: pods 99 -> 6",)"
                            R"("regarding":{"apiVersion":"platform.labhub.io/v1alpha1","kind":"TeamSpace",)"
                            R"("name":"red","uid":"uid-red"},"related":{"apiVersion":"v1","kind":"ResourceQuota",)"
                            R"("namespace":"team-red","name":"team-quota"}})");
  Event event = kEvent;
  event.warning = true;
  event.related = {"Namespace", "", "team-red"};
  CHECK(Contains(EncodeEvent(event, "h", kNow).body, R"("type":"Warning")"));
  CHECK(Contains(EncodeEvent(event, "h", kNow).body,
                 R"("related":{"apiVersion":"v1","kind":"Namespace","name":"team-red"})"));
  event.related = {};
  CHECK_FALSE(Contains(EncodeEvent(event, "h", kNow).body, "related"));
  CHECK(Contains(EncodeEvent(event, std::string(129, 'h'), kNow).body, ":\"" + std::string(128, 'h') + "\""));
}

TEST_CASE("DecodeEvent reads how often it happened", "[kube][event_codec]") {
  const auto with = [](const std::string& series) { return R"({"metadata":{"uid":"u"})" + series + "}"; };
  CHECK(DecodeEvent(with("")) == EventSeries{"u", std::nullopt});
  CHECK(DecodeEvent(with(R"(,"series":null)")) == EventSeries{"u", std::nullopt});
  CHECK(DecodeEvent(with(R"(,"series":{"count":7})")) == EventSeries{"u", 7});
  CHECK(DecodeEvent(with(R"(,"series":{"count":2147483646})")) == EventSeries{"u", 2147483646});
  const Error bound{ErrorCode::kMalformed, "'series.count' can't be raised"};
  CHECK(ErrorOf(DecodeEvent(with(R"(,"series":{"count":2147483647})"))) == bound);
  CHECK(ErrorOf(DecodeEvent(with(R"(,"series":{"count":0})"))) == bound);
  CHECK(ErrorOf(DecodeEvent("{}")) == Error{ErrorCode::kMalformed, "'metadata.uid' is missing"});
  CHECK(ErrorOf(DecodeEvent("<html>"))->code == ErrorCode::kMalformed);
}

TEST_CASE("EncodeEventAgain counts once more, and only what was observed", "[kube][event_codec]") {
  const std::string value = R"("lastObservedTime":"2031-05-06T07:08:09.000000Z"}}])";
  const Request second = EncodeEventAgain(kEvent, {"u", std::nullopt}, kNow);
  CHECK(second.method == Method::kPatch);
  CHECK(second.path == EventPath(kEvent) + "?fieldManager=cnpa-op&fieldValidation=Strict");
  CHECK(second.content_type == "application/json-patch+json");
  CHECK(second.body == R"([{"op":"test","path":"/metadata/uid","value":"u"},)"
                       R"({"op":"test","path":"/series","value":null},)"
                       R"({"op":"add","path":"/series","value":{"count":2,)" +
                           value);
  CHECK(EncodeEventAgain(kEvent, {"u", 7}, kNow).body == R"([{"op":"test","path":"/metadata/uid","value":"u"},)"
                                                         R"({"op":"test","path":"/series/count","value":7},)"
                                                         R"({"op":"add","path":"/series","value":{"count":8,)" +
                                                             value);
}

}  // namespace
}  // namespace cnpa
