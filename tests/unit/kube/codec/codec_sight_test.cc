// SPDX-License-Identifier: Apache-2.0
#include "kube/codec/codec_sight.h"

#include <string>
#include <utility>
#include <vector>

#include "kube/codec/codec.h"
#include "support/catch.h"

namespace cnpa {
namespace {

ObjectSight SightOf(std::string item) {
  JsonDocument document;
  REQUIRE(document.Parse(item));
  return DecodeSight(document);
}

TEST_CASE("DecodeSight takes times, finalizers of others, and who wrote each field, ourselves among them",
          "[kube][codec_sight]") {
  const ObjectSight sight =
      SightOf(R"({"metadata":{"name":"red","uid":"u","creationTimestamp":"c","deletionTimestamp":"d",)"
              R"("finalizers":["a.example/x"],"managedFields":[{"manager":"cnpa-op","operation":"Update",)"
              R"("time":"2031-05-06T07:08:09Z","fieldsV1":{"f:metadata":{"f:finalizers":)"
              R"({"v:\"platform.labhub.io/cleanup\"":{}},"f:labels":{"f:platform.labhub.io/teamspace":{}}},)"
              R"("f:spec":{"f:hard":{"f:pods":{}}},"f:status":{"f:namespace":{}}}}]},)"
              R"("spec":{"finalizers":["kubernetes","b.example/y"]},"status":{"used":{"pods":"3"}}})");
  CHECK(sight.created == "c");
  CHECK(sight.deleted == "d");
  CHECK(sight.finalizers == std::vector<std::string>{"a.example/x", "b.example/y"});
  CHECK(sight.used == std::map<std::string, std::string>{{"pods", "3"}});
  const Writer ours{"cnpa-op", "Update", "", *ParseTime("2031-05-06T07:08:09Z")};
  CHECK(sight.writers == FieldWriters{{std::string(kFinalizersPath), ours},
                                      {LabelPath(), ours},
                                      {"spec.hard.pods", ours},
                                      {std::string(kStatusNamespacePath), ours}});
}

TEST_CASE("DecodeSight takes of a namespace's conditions those of its deletion that hold", "[kube][codec_sight]") {
  const ObjectSight sight = SightOf(
      R"({"metadata":{"name":"team-red","uid":"u"},"status":{"conditions":[)"
      R"({"type":"NamespaceDeletionContentFailure","status":"False","message":"fine"},)"
      R"({"type":"Other","status":"True"},)"
      R"({"type":"NamespaceContentRemaining","status":"True","lastTransitionTime":"t","reason":"r","message":"pods"}]}})");
  CHECK(sight.conditions ==
        std::vector<Condition>{{"NamespaceContentRemaining", "True", std::nullopt, "t", "r", "pods"}});
  CHECK(SightOf("{}") == ObjectSight{});
}

TEST_CASE("DecodeArchive reads what EncodeArchive wrote", "[kube][codec_sight]") {
  WriteArchive record{
      .name = "red", .uid = "u", .pods = 4, .cpu = "1", .generation = 2, .deleted_at = "d", .archived_at = "a"};
  const auto again = DecodeArchive(EncodeArchive(record));
  REQUIRE(again);
  CHECK(*again == record);
  record.pods.reset();
  CHECK(*DecodeArchive(EncodeArchive(record)) == record);
  const std::vector<std::pair<std::string, std::string>> no_archives{
      {"{}", "'name' is missing"},
      {R"({"name":"red","uid":1,"pods":1})", "'uid' is not a string"},
      {R"({"name":"red","uid":"u"})", "'pods' is missing"},
      {"[]", "not a JSON object"},
      {std::string(1000, '['), "nested too deep"},
  };
  for (const auto& [text, want] : no_archives) {
    CAPTURE(text);
    CHECK(ErrorOf(DecodeArchive(text)) == Error{ErrorCode::kMalformed, want});
  }
  CHECK(DecodeArchive("").error().code == ErrorCode::kMalformed);
}

}  // namespace
}  // namespace cnpa
