// SPDX-License-Identifier: Apache-2.0
//
// With a kind that only this file knows: it is planned, shown, tried, sent, counted and repaired without a line
// elsewhere.
#include "core/plan/declared.h"

#include "app/metrics/pass_numbers.h"
#include "app/render/render.h"
#include "app/stages/report.h"
#include "core/plan/describe.h"
#include "core/plan/repair.h"
#include "core/teamspace/verdict.h"
#include "kube/codec/codec.h"
#include "kube/codec/object_codec.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/text.h"

namespace cnpa {
namespace {

constexpr Resource kWidgets{"toys.example", "v1", "widgets", "Widget"};
const Mark kOurs{};

Value Text(const char* text) {
  return {std::string(text)};
}

DeclaredObject Widget(const char* colour) {
  return {
      kWidgets, "w", {{"team", "red"}}, {Value::Map{{"colour", Text(colour)}, {"sizes", {Value::List{Text("s")}}}}}};
}

ObservedObject Observed(const DeclaredObject& object, Labels labels) {
  labels.insert({"team", "red"});
  return {
      .resource = object.resource,
      .name = object.name,
      .uid = "u1",
      .resource_version = "7",
      .labels = std::move(labels),
      .spec = object.spec,
      .writers = {{"spec.colour", {.manager = "kubectl-edit", .operation = "Update", .subresource = "", .time = {}}}}};
}

std::vector<Chain> Sets(const std::vector<ObservedObject>& observed, const std::vector<DeclaredObject>& desired) {
  return ComputeDeclared(observed, desired, kOurs);
}

std::string Line(const Chain& set) {
  return Renderer(kNow, {}, "").ChangeLine(set, set.changes.at(0));
}

TEST_CASE("ComputeDeclared creates what is missing", "[core][declared]") {
  const std::vector<Chain> sets = Sets({}, {Widget("red")});
  REQUIRE(sets.size() == 1);
  CHECK(SubjectOf(sets[0]) == ObjectRef{"Widget", "", "w"});
  CHECK(Line(sets[0]) == "+ Widget/w                                 is missing");
  const Request request = EncodeChange(sets[0], sets[0].changes[0]);
  CHECK(request.path == "/apis/toys.example/v1/widgets?fieldManager=cnpa-op&fieldValidation=Strict");
  CHECK(request.body ==
        R"({"apiVersion":"toys.example/v1","kind":"Widget","metadata":{"name":"w","labels":{)"
        R"("app.kubernetes.io/managed-by":"cnpa-op","platform.labhub.io/installation":"default","team":"red"}},)"
        R"("spec":{"colour":"red","sizes":["s"]}})");
  CHECK(CountPlan({.chains = sets}).created == 1);
  CHECK(ComputeVerdict(sets[0], sets[0].changes[0], Status()).answer == Answer::kAccepted);
}

TEST_CASE("ComputeDeclared writes nothing when nothing differs", "[core][declared]") {
  CHECK(Sets({Observed(Widget("red"), kOurs.labels())}, {Widget("red")}).empty());
}

TEST_CASE("ComputeDeclared repairs what somebody changed, and says who", "[core][declared]") {
  const std::vector<Chain> sets = Sets({Observed(Widget("blue"), kOurs.labels())}, {Widget("red")});
  REQUIRE(sets.size() == 1);
  CHECK(Line(sets[0]) ==
        "~ Widget/w                                 spec.colour blue -> red: was changed by kubectl-edit");
  CHECK(RepairsOf(sets[0], 0).at(0).damage == Damage::kChanged);
  const Request request = EncodeChange(sets[0], sets[0].changes[0]);
  CHECK(request.path == "/apis/toys.example/v1/widgets/w?fieldManager=cnpa-op&fieldValidation=Strict");
  CHECK(Contains(request.body, R"({"op":"test","path":"/metadata/resourceVersion","value":"7"})"));
  CHECK(Contains(request.body, R"({"op":"replace","path":"/spec","value":{"colour":"red","sizes":["s"]}})"));
  const std::string kept =
      R"({"apiVersion":"toys.example/v1","kind":"Widget","metadata":{"name":"w","uid":"u1","labels":{)"
      R"("app.kubernetes.io/managed-by":"cnpa-op","platform.labhub.io/installation":"default",)"
      R"("team":"red"}},"spec":{"colour":"green","sizes":["s"]}})";
  const auto altered = DecodeAlterations(sets[0], sets[0].changes[0], kept);
  REQUIRE(altered);
  REQUIRE(altered->size() == 1);
  CHECK(altered->at(0) == FieldChange{.path = "spec.colour", .from = "green", .to = "red"});
}

TEST_CASE("ComputeDeclared marks what is there without a mark", "[core][declared]") {
  const std::vector<Chain> sets = Sets({Observed(Widget("red"), {})}, {Widget("red")});
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].changes[0].fields.size() == 2);
}

TEST_CASE("ComputeDeclared removes what bears our mark and is not declared", "[core][declared]") {
  const ObservedObject ours = Observed(Widget("red"), kOurs.labels());
  const std::vector<Chain> sets = Sets({ours}, {});
  REQUIRE(sets.size() == 1);
  CHECK(Line(sets[0]) == "- Widget/w                                 is ours, and nothing asks for it");
  CHECK(Contains(EncodeChange(sets[0], sets[0].changes[0]).body, R"("preconditions":{"uid":"u1"})"));
  // Nothing else: not another installation's, not anybody's, not what goes already.
  ObservedObject going = ours;
  going.deleting = true;
  CHECK(Sets({Observed(Widget("red"), Mark{"blue"}.labels()), Observed(Widget("red"), {}), going}, {}).empty());
}

TEST_CASE("ComputeDeclared leaves alone what another installation keeps", "[core][declared]") {
  const std::vector<Chain> sets = Sets({Observed(Widget("blue"), Mark{"other"}.labels())}, {Widget("red")});
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].changes.empty());
  CHECK(sets[0].refusal->reason == Reason::kNotOurs);
}

TEST_CASE("ComputeDeclared waits for the end of what is being deleted", "[core][declared]") {
  ObservedObject going = Observed(Widget("red"), kOurs.labels());
  going.deleting = true;
  const std::vector<Chain> sets = Sets({going}, {Widget("red")});
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].changes.empty());
  CHECK(sets[0].refusal->waiting());
}

TEST_CASE("DecodeObject reads labels, spec and who set what", "[kube][object_codec]") {
  const Result<ObservedObject> object = DecodeObject(
      kWidgets, R"({"apiVersion":"toys.example/v1","kind":"Widget","metadata":{"name":"w","uid":"u",)"
                R"("resourceVersion":"9","labels":{"a/b":"c"},"managedFields":[{"manager":"helm",)"
                R"("operation":"Update","time":"2026-11-30T12:00:00Z","fieldsV1":{"f:spec":{"f:n":{}}}}]},)"
                R"("spec":{"n":[1,2.5,true,null,"x",{"y":{}}]}})");
  REQUIRE(object);
  CHECK(object->labels == Labels{{"a/b", "c"}});
  CHECK(object->resource_version == "9");
  CHECK(object->writers.at("spec.n").manager == "helm");
  CHECK(TextOf(object->spec) == R"({"n":[1,2.500000,true,null,"x",{"y":{}}]})");
  CHECK_FALSE(DecodeObject(kWidgets, R"({"apiVersion":"v1","kind":"Widget","metadata":{"name":"w","uid":"u"}})"));
  CHECK_FALSE(DecodeObject(kWidgets, R"({"apiVersion":"toys.example/v1","kind":"Widget","metadata":{"name":"w"}})"));
}

}  // namespace
}  // namespace cnpa
