// SPDX-License-Identifier: Apache-2.0
#include "kube/codec/status_patch.h"

#include <optional>
#include <string>

#include "base/text.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

void WriteCondition(JsonWriter& writer, const Condition& condition) {
  writer.Object([&] {
    writer.String("type", condition.type);
    writer.String("status", condition.status);
    if (condition.observed_generation) writer.Int("observedGeneration", *condition.observed_generation);
    writer.String("lastTransitionTime", condition.last_transition_time);
    writer.String("reason", condition.reason);
    writer.String("message", condition.message);
  });
}

void PatchWholeStatus(JsonPatch& patch, const TeamSpaceStatus& desired) {
  patch.TestAbsent("/status");
  patch.Add("/status", [&](JsonWriter& w) {
    w.Object([&] {
      if (desired.observed_generation) w.Int("observedGeneration", *desired.observed_generation);
      if (desired.namespace_name) w.String("namespace", *desired.namespace_name);
      if (desired.namespace_uid) w.String("namespaceUID", *desired.namespace_uid);
      if (desired.ready) w.Array("conditions", [&] { WriteCondition(w, *desired.ready); });
    });
  });
}

/// Returns whether a `test` of `text` can hold: the server compares strings as they are encoded, and Go escapes `<`,
/// `>`, `&`, control characters and two separators of lines in its own ways, we those that a terminal obeys.
///
/// Source:   encoding/json, Marshal; gopkg.in/evanphx/json-patch.v4, lazyNode.equal; tried on 1.37.2.
bool CanBeTested(std::string_view text) {
  for (Utf8Character next; !text.empty(); text.remove_prefix(next.bytes)) {
    next = FirstCharacter(text);
    if (IsControl(next.code) || next.code == '<' || next.code == '>' || next.code == '&') return false;
  }
  return true;
}

/// Tests that the condition Ready at `place` is the one that was listed, member by member: others may have more of
/// them. A pass that saw more than this one did may have written it since.
void TestReady(JsonPatch& patch, const std::string& place, const Condition& observed) {
  const auto test = [&](std::string_view member, const std::string& value) {
    if (!CanBeTested(value)) return;
    const std::string path = place + "/" + std::string(member);
    value.empty() ? patch.TestAbsent(path) : patch.Test(path, value);
  };
  patch.Test(place + "/type", "Ready");
  test("status", observed.status);
  test("reason", observed.reason);
  test("message", observed.message);
  test("lastTransitionTime", observed.last_transition_time);
  const std::string generation = place + "/observedGeneration";
  if (!observed.observed_generation) return patch.TestAbsent(generation);
  patch.Test(generation, [&](JsonWriter& w) { w.Int(*observed.observed_generation); });
}

void PatchReady(JsonPatch& patch, const TeamSpaceStatus& observed, const Boxed<Condition>& desired) {
  const auto condition = [&](JsonWriter& w) { WriteCondition(w, *desired); };
  if (observed.ready) {
    const std::string place = "/status/conditions/" + std::to_string(observed.ready_index);
    TestReady(patch, place, *observed.ready);
    desired ? patch.Replace(place, condition) : patch.Remove(place);
  } else if (observed.has_conditions) {
    patch.Add("/status/conditions/-", condition);
  } else {
    patch.TestAbsent("/status/conditions");
    patch.Add("/status/conditions", [&](JsonWriter& w) { w.Array([&] { condition(w); }); });
  }
}

bool IsTestable(std::int64_t /*number*/) {
  return true;
}

bool IsTestable(const std::string& text) {
  return CanBeTested(text);
}

/// Sets, or takes away, what stands at `path`, which must be as it was listed, where that can be tested.
template <typename T>
void PatchMember(JsonPatch& patch, std::string_view path, const std::optional<T>& observed,
                 const std::optional<T>& desired, void (*write)(JsonWriter&, const T&)) {
  if (desired == observed) return;
  if (!observed) {
    patch.TestAbsent(path);
  } else if (IsTestable(*observed)) {
    patch.Test(path, [&](JsonWriter& w) { write(w, *observed); });
  }
  if (desired) {
    patch.Add(path, [&](JsonWriter& w) { write(w, *desired); });
  } else {
    patch.Remove(path);
  }
}

}  // namespace

void PatchStatus(JsonPatch& patch, const TeamSpaceStatus& observed, const TeamSpaceStatus& desired) {
  constexpr auto kInt = [](JsonWriter& w, const std::int64_t& value) { w.Int(value); };
  constexpr auto kText = [](JsonWriter& w, const std::string& value) { w.String(value); };
  if (!observed.present) return PatchWholeStatus(patch, desired);
  PatchMember<std::int64_t>(patch, "/status/observedGeneration", observed.observed_generation,
                            desired.observed_generation, kInt);
  PatchMember<std::string>(patch, "/status/namespace", observed.namespace_name, desired.namespace_name, kText);
  PatchMember<std::string>(patch, "/status/namespaceUID", observed.namespace_uid, desired.namespace_uid, kText);
  if (desired.ready != observed.ready) PatchReady(patch, observed, desired.ready);
}

}  // namespace cnpa
