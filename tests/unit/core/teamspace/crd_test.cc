// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/crd.h"

#include "app/stages/managed_crd.h"
#include "core/plan/describe.h"
#include "support/catch.h"

namespace cnpa {
namespace {

Value::Map& MapAt(Value& value, const std::string& key) {
  return std::get<Value::Map>(std::get<Value::Map>(value.data).at(key).data);
}

ObservedObject AsObserved(const DeclaredObject& known) {
  return {.resource = known.resource, .name = known.name, .uid = "u", .labels = Mark{}.labels(), .spec = known.spec};
}

TEST_CASE("ComputeCrd has nothing to do where the CRD is the one that is known", "[core][crd]") {
  const CrdPlan plan = ComputeCrd(AsObserved(KnownCrd()), KnownCrd(), {});
  CHECK(plan.sets.empty());
  CHECK(plan.unknown.empty());
}

TEST_CASE("ComputeCrd creates a CRD that is missing", "[core][crd]") {
  const CrdPlan plan = ComputeCrd(std::nullopt, KnownCrd(), {});
  REQUIRE(plan.sets.size() == 1);
  CHECK(ActionOf(plan.sets[0].changes.at(0)) == Action::kCreate);
}

TEST_CASE("ComputeCrd upgrades what is missing something or has other values", "[core][crd]") {
  ObservedObject older = AsObserved(KnownCrd());
  MapAt(older.spec, "names").erase("categories");
  MapAt(older.spec, "names")["singular"] = Value{std::string("team")};
  const CrdPlan plan = ComputeCrd(older, KnownCrd(), {});
  REQUIRE(plan.sets.size() == 1);
  CHECK(plan.sets[0].changes.at(0).fields.size() == 2);
}

TEST_CASE("ComputeCrd leaves alone what it does not know", "[core][crd]") {
  struct Case {
    const char* path;
    void (*add)(Value& spec);
  };
  const std::vector<Case> cases{
      {"spec.preserve", [](Value& spec) { std::get<Value::Map>(spec.data)["preserve"] = Value{true}; }},
      {"spec.conversion.webhook", [](Value& spec) { MapAt(spec, "conversion")["webhook"] = Value{Value::Map{}}; }},
      {"spec.names.shortNames['tsp']",
       [](Value& spec) {
         std::get<Value::List>(MapAt(spec, "names").at("shortNames").data).push_back(Value{std::string("tsp")});
       }},
      {"spec.versions['v2']",
       [](Value& spec) {
         std::get<Value::List>(std::get<Value::Map>(spec.data).at("versions").data)
             .push_back(Value{Value::Map{{"name", Value{std::string("v2")}}}});
       }},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.path) {
      ObservedObject newer = AsObserved(KnownCrd());
      c.add(newer.spec);
      const CrdPlan plan = ComputeCrd(newer, KnownCrd(), {});
      CHECK(plan.sets.empty());
      CHECK(plan.unknown == std::vector<std::string>{c.path});
    }
  }
}

TEST_CASE("FindUnknown takes a description and the words of a rule for nothing new", "[core][crd]") {
  ObservedObject described = AsObserved(KnownCrd());
  std::get<Value::Map>(described.spec.data)["description"] = Value{std::string("x")};
  CHECK(FindUnknown(described.spec, KnownCrd().spec).empty());
}

}  // namespace
}  // namespace cnpa
