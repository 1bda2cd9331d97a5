// SPDX-License-Identifier: Apache-2.0
#include "kube/codec/event_codec.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "core/objects/objects.h"
#include "kube/auth/digest.h"
#include "kube/json/json.h"
#include "kube/json/json_patch.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

constexpr std::string_view kEventsPath = "/apis/events.k8s.io/v1/namespaces/default/events";
constexpr std::string_view kQuery = "?fieldManager=cnpa-op&fieldValidation=Strict";
constexpr std::string_view kReportingController = "platform.labhub.io/cnpa-op";
constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestInstance = 128;
constexpr std::size_t kHashDigits = 16;

/// Returns `time` as Kubernetes' MicroTime.
std::string FormatMicroTime(Time time) {
  std::string text = FormatTime(time);
  text.pop_back();
  return text + ".000000Z";
}

void WriteSeries(JsonWriter& json, std::int64_t count, Time now) {
  json.Object([&] {
    json.Int("count", count);
    json.String("lastObservedTime", FormatMicroTime(now));
  });
}

void WriteRegarding(JsonWriter& json, const Event& event) {
  json.Object("regarding", [&] {
    json.String("apiVersion", kTeamSpaceApiVersion);
    json.String("kind", kTeamSpaceKind);
    json.String("name", event.team_space);
    json.String("uid", event.uid);
  });
}

void WriteRelated(JsonWriter& json, const ObjectRef& related) {
  json.Object("related", [&] {
    json.String("apiVersion", "v1");
    json.String("kind", related.kind);
    if (!related.namespace_name.empty()) json.String("namespace", related.namespace_name);
    json.String("name", related.name);
  });
}

}  // namespace

std::string EventName(const Event& event) {
  std::string hashed;
  for (const std::string& part : {event.uid, event.reason, event.action, event.identity}) hashed += part + '\0';
  std::string name = event.team_space.substr(0, kLongestName - 1 - kHashDigits);
  // What stands before a '.' ends with a letter or a digit.
  while (!name.empty() && std::isalnum(static_cast<unsigned char>(name.back())) == 0) name.pop_back();
  return name + "." + Sha256(hashed).substr(0, kHashDigits);
}

std::string EventPath(const Event& event) {
  return std::string(kEventsPath) + "/" + EventName(event);
}

Request EncodeEvent(const Event& event, const std::string& instance, Time now) {
  JsonWriter json;
  json.Object([&] {
    json.String("apiVersion", "events.k8s.io/v1");
    json.String("kind", "Event");
    json.Object("metadata", [&] {
      json.String("name", EventName(event));
      json.String("namespace", "default");
    });
    json.String("eventTime", FormatMicroTime(now));
    json.String("reportingController", kReportingController);
    json.String("reportingInstance", instance.substr(0, kLongestInstance));
    json.String("type", event.warning ? "Warning" : "Normal");
    json.String("reason", event.reason);
    json.String("action", event.action);
    json.String("note", event.note);
    WriteRegarding(json, event);
    if (!event.related.kind.empty()) WriteRelated(json, event.related);
  });
  return {.method = Method::kPost,
          .path = std::string(kEventsPath) + std::string(kQuery),
          .content_type = "application/json",
          .body = json.text()};
}

Result<EventSeries> DecodeEvent(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  const JsonReader metadata = root.Object("metadata");
  const JsonReader series = root.Object("series");
  EventSeries observed{.uid = metadata.String("uid"), .count = series.IntIfPresent("count")};
  // The server's count has 32 bits.
  if (observed.count && (*observed.count < 1 || *observed.count >= std::numeric_limits<std::int32_t>::max())) {
    series.Fail("count", "can't be raised");
  }
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return observed;
}

Request EncodeEventAgain(const Event& event, const EventSeries& observed, Time now) {
  const std::string patch = PatchText(observed.uid, [&](JsonPatch& operations) {
    if (observed.count) {
      operations.Test("/series/count", [&](JsonWriter& json) { json.Int(*observed.count); });
    } else {
      operations.TestAbsent("/series");
    }
    operations.Add("/series", [&](JsonWriter& json) { WriteSeries(json, observed.count.value_or(1) + 1, now); });
  });
  return {.method = Method::kPatch,
          .path = EventPath(event) + std::string(kQuery),
          .content_type = "application/json-patch+json",
          .body = patch};
}

}  // namespace cnpa
