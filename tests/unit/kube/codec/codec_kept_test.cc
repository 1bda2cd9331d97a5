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

const Chain kRed{.name = "red", .uid = "u"};
const OwnerReference kOwner{"platform.labhub.io/v1alpha1", "TeamSpace", "red", "u"};
using Hard = std::map<std::string, std::string>;

std::vector<std::string> PathsOf(const Effect& effect, const std::string& answer) {
  std::vector<std::string> paths;
  const std::vector<FieldChange> altered = DecodeAlterations(kRed, {.effect = effect}, answer).value();
  paths.reserve(altered.size());
  for (const FieldChange& field : altered) paths.push_back(field.path);
  return paths;
}

TEST_CASE("DecodeAlterations holds what is kept against what was sent", "[kube][codec_kept]") {
  using Paths = std::vector<std::string>;
  CHECK(PathsOf(CreateQuota{"team-red", Hard{{"pods", "2"}}}, kQuota).empty());
  CHECK(PathsOf(CreateQuota{"team-red", Hard{{"pods", "3"}}}, kQuota) == Paths{"spec.hard.pods"});
  CHECK(PathsOf(RepairQuota{"team-red", "u", {}, Hard{{"pods", "3"}}}, kQuota) == Paths{"spec.hard.pods"});
  CHECK(PathsOf(CreateNamespace{"team-red", kOwner}, kSpace) == Paths{std::string(kOwnersPath)});
  RepairNamespace repair;
  repair.owner = kOwner;
  CHECK(PathsOf(repair, kSpace) == Paths{std::string(kOwnersPath)});
  CHECK(PathsOf(AddFinalizer{}, kTeamSpace) == Paths{std::string(kFinalizersPath)});
  CHECK(PathsOf(RemoveFinalizer{}, kTeamSpace).empty());
  WriteStatus status;
  status.desired.observed_generation = 1;
  CHECK(PathsOf(status, kTeamSpace) == Paths{std::string(kObservedGenerationPath)});
}

TEST_CASE("DecodeAlterations reads nothing of what was deleted", "[kube][codec_kept]") {
  for (const std::string& answer : {kQuota, std::string(R"({"kind":"Status"})")}) {
    CHECK(PathsOf(DeleteQuota{}, answer).empty());
  }
}

TEST_CASE("DecodeAlterations refuses what is another object, or not whole", "[kube][codec_kept]") {
  const std::string status = R"({"kind":"Status","apiVersion":"v1","status":"Success"})";
  for (const Effect& effect : {Effect(CreateQuota{}), Effect(RepairNamespace{}), Effect(WriteStatus{})}) {
    for (const std::string& answer : {std::string(), status, std::string("[]"), std::string(100, '[')}) {
      CHECK(ErrorOf(DecodeAlterations(kRed, {.effect = effect}, answer))->code == ErrorCode::kMalformed);
    }
  }
  CHECK_FALSE(DecodeAlterations(kRed, {.effect = CreateQuota{}}, kSpace));
  CHECK_FALSE(DecodeAlterations(kRed, {.effect = CreateNamespace{}}, kTeamSpace));
  std::string odd = kQuota;
  odd.replace(odd.find("\"2\""), 3, "[2]");
  CHECK(ErrorOf(DecodeAlterations(kRed, {.effect = CreateQuota{}}, odd))->code == ErrorCode::kMalformed);
}

TEST_CASE("DecodeAlterations reads a TeamSpace whose spec nobody can", "[kube][codec_kept]") {
  std::string odd = kTeamSpace;
  odd.replace(odd.find("1}}"), 3, "[]}}");
  CHECK(DecodeAlterations(kRed, {.effect = RemoveFinalizer{}}, odd));
}

}  // namespace
}  // namespace cnpa
