// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "kube/codec/codec.h"
#include "support/catch.h"
#include "support/text.h"

namespace cnpa {
namespace {

const std::string kQuota = R"({"kind":"ResourceQuota","apiVersion":"v1","metadata":{"name":"team-quota",)"
                           R"("namespace":"team-red","uid":"u"},"spec":{"hard":{"pods":"2"}}})";
const std::string kSpace = R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"team-red","uid":"u",)"
                           R"("labels":{"platform.labhub.io/teamspace":"red"}}})";
const std::string kTeamSpace = R"({"kind":"TeamSpace","apiVersion":"platform.labhub.io/v1alpha1",)"
                               R"("metadata":{"name":"red","uid":"u","finalizers":["a/b"]},"spec":{"pods":1}})";

TEST_CASE("DecodeKept reads the object that a change is about", "[kube][codec_kept]") {
  const Result<Kept> quota = DecodeKept({.effect = CreateQuota{}}, kQuota);
  REQUIRE(quota);
  CHECK(std::get<Quota>(*quota).hard == std::map<std::string, std::string>{{"pods", "2"}});
  CHECK(std::holds_alternative<Quota>(*DecodeKept({.effect = RepairQuota{}}, kQuota)));
  const Result<Kept> space = DecodeKept({.effect = CreateNamespace{}}, kSpace);
  REQUIRE(space);
  CHECK(std::get<Namespace>(*space).team_space_label == "red");
  CHECK(std::holds_alternative<Namespace>(*DecodeKept({.effect = RepairNamespace{}}, kSpace)));
  for (const Effect& effect : {Effect(AddFinalizer{}), Effect(RemoveFinalizer{}), Effect(WriteStatus{})}) {
    const Result<Kept> team_space = DecodeKept({.effect = effect}, kTeamSpace);
    REQUIRE(team_space);
    CHECK(std::get<TeamSpace>(*team_space).finalizers == std::vector<std::string>{"a/b"});
  }
}

TEST_CASE("DecodeKept reads nothing of what was deleted", "[kube][codec_kept]") {
  for (const std::string& answer : {kQuota, std::string(R"({"kind":"Status"})")}) {
    CHECK(std::holds_alternative<std::monostate>(*DecodeKept({.effect = DeleteQuota{}}, answer)));
  }
}

TEST_CASE("DecodeKept refuses what is another object, or not whole", "[kube][codec_kept]") {
  const std::string status = R"({"kind":"Status","apiVersion":"v1","status":"Success"})";
  for (const Effect& effect : {Effect(CreateQuota{}), Effect(RepairNamespace{}), Effect(WriteStatus{})}) {
    for (const std::string& answer : {std::string(), status, std::string("[]"), std::string(100, '[')}) {
      CHECK(ErrorOf(DecodeKept({.effect = effect}, answer))->code == ErrorCode::kMalformed);
    }
  }
  CHECK_FALSE(DecodeKept({.effect = CreateQuota{}}, kSpace));
  CHECK_FALSE(DecodeKept({.effect = CreateNamespace{}}, kTeamSpace));
  std::string odd = kQuota;
  odd.replace(odd.find("\"2\""), 3, "[2]");
  CHECK(ErrorOf(DecodeKept({.effect = CreateQuota{}}, odd))->code == ErrorCode::kMalformed);
}

TEST_CASE("DecodeKept reads a TeamSpace whose spec nobody can", "[kube][codec_kept]") {
  std::string odd = kTeamSpace;
  odd.replace(odd.find("1}}"), 3, "[]}}");
  CHECK(DecodeKept({.effect = RemoveFinalizer{}}, odd));
}

}  // namespace
}  // namespace cnpa
