// SPDX-License-Identifier: Apache-2.0
//
// The exact request of each change, as each was tried on a real server.
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/teamspace/status.h"
#include "kube/codec/codec.h"
#include "support/builders.h"
#include "support/describe.h"

namespace cnpa {
namespace {

const std::string kQuery = "?fieldManager=cnpa-op&fieldValidation=Strict";
const std::string kTeamSpacePath = "/apis/platform.labhub.io/v1alpha1/teamspaces/red";

Chain RedChain() {
  Chain chain;
  chain.name = "red";
  chain.uid = "uid-red";
  chain.generation = 7;
  return chain;
}

/// A request in its parts that go over the wire.
struct Sent {
  std::string method;
  std::string path;
  std::string content_type;
  std::string body;

  bool operator==(const Sent&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Sent& sent) {
  return out << sent.method << " " << sent.path << " (" << sent.content_type << ")\n" << sent.body;
}

Sent Encoded(Effect effect) {
  const Request request = EncodeChange(RedChain(), {std::move(effect), Cause::kMissing, {}});
  CHECK(request.timeout.count() == 0);  // The client's to set.
  CHECK(request.delay.count() == 0);
  CHECK_FALSE(request.on_body);
  return {std::string(MethodName(request.method)), request.path, request.content_type, request.body};
}

Sent Patch(const std::string& path, const std::string& body) {
  return {"PATCH", path + kQuery, "application/json-patch+json", body};
}

const std::string kTestUid = R"({"op":"test","path":"/metadata/uid","value":"uid-red"})";

TEST_CASE("EncodeChange puts the finalizer on, guarded by uid, generation and the list as listed",
          "[kube][codec_encode]") {
  const std::string guards = "[" + kTestUid + R"(,{"op":"test","path":"/metadata/generation","value":7},)";
  CHECK(Encoded(AddFinalizer{}) ==
        Patch(kTeamSpacePath, guards + R"({"op":"test","path":"/metadata/finalizers","value":null},)"
                                       R"({"op":"add","path":"/metadata/finalizers",)"
                                       R"("value":["platform.labhub.io/cleanup"]}])"));
  CHECK(Encoded(AddFinalizer{{"b.example/x", "a.example/y"}}) ==
        Patch(kTeamSpacePath,
              guards + R"({"op":"test","path":"/metadata/finalizers","value":["b.example/x","a.example/y"]},)"
                       R"({"op":"add","path":"/metadata/finalizers/-","value":"platform.labhub.io/cleanup"}])"));
}

TEST_CASE("EncodeChange takes off the finalizer at its index, of the spec that was archived", "[kube][codec_encode]") {
  CHECK(
      Encoded(RemoveFinalizer{{2}}) ==
      Patch(kTeamSpacePath, "[" + kTestUid +
                                R"(,{"op":"test","path":"/metadata/generation","value":7},)"
                                R"({"op":"test","path":"/metadata/finalizers/2","value":"platform.labhub.io/cleanup"},)"
                                R"({"op":"remove","path":"/metadata/finalizers/2"}])"));
}

TEST_CASE("EncodeChange takes off a finalizer that is there twice, from the end", "[kube][codec_encode]") {
  CHECK(
      Encoded(RemoveFinalizer{{2, 0}}) ==
      Patch(kTeamSpacePath, "[" + kTestUid +
                                R"(,{"op":"test","path":"/metadata/generation","value":7},)"
                                R"({"op":"test","path":"/metadata/finalizers/2","value":"platform.labhub.io/cleanup"},)"
                                R"({"op":"remove","path":"/metadata/finalizers/2"},)"
                                R"({"op":"test","path":"/metadata/finalizers/0","value":"platform.labhub.io/cleanup"},)"
                                R"({"op":"remove","path":"/metadata/finalizers/0"}])"));
}

TEST_CASE("EncodeChange creates a namespace with label and ownerReference", "[kube][codec_encode]") {
  CHECK(Encoded(CreateNamespace{"team-red", OwnerOf("red")}) ==
        Sent{"POST", "/api/v1/namespaces" + kQuery, "application/json",
             R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-red",)"
             R"("labels":{"platform.labhub.io/teamspace":"red"},"ownerReferences":[)"
             R"({"apiVersion":"platform.labhub.io/v1alpha1","kind":"TeamSpace","name":"red",)"
             R"("uid":"uid-red"}]}})"});
}

TEST_CASE("EncodeChange repairs label and ownerReference in one patch", "[kube][codec_encode]") {
  const std::string owner =
      R"({"apiVersion":"platform.labhub.io/v1alpha1","kind":"TeamSpace","name":"red","uid":"uid-red"})";
  const std::string label = R"(,{"op":"add","path":"/metadata/labels/platform.labhub.io~1teamspace","value":"red"})";
  const std::string append = R"(,{"op":"add","path":"/metadata/ownerReferences/-","value":)" + owner + "}";
  const std::string create = R"(,{"op":"test","path":"/metadata/ownerReferences","value":null})"
                             R"(,{"op":"add","path":"/metadata/ownerReferences","value":[)" +
                             owner + "]}";
  const std::string replace = R"(,{"op":"test","path":"/metadata/ownerReferences/3/uid","value":"uid-old"})"
                              R"(,{"op":"replace","path":"/metadata/ownerReferences/3","value":)" +
                              owner + "}";
  const std::string test_label =
      R"(,{"op":"test","path":"/metadata/labels/platform.labhub.io~1teamspace","value":"red"})";
  const std::string test_owner = R"(,{"op":"test","path":"/metadata/ownerReferences/3/uid","value":"uid-old"})";
  struct Case {
    std::string name;
    Claim claim;
    bool set_label;
    OwnerRepair owner_repair;
    std::string want;
  };
  const std::vector<Case> cases{
      {"label alone: the ownerReference is still there", Claim::kOwner, true, OwnerRepair::kNone, label + test_owner},
      {"no list of owners: the label is still there", Claim::kLabel, false, OwnerRepair::kCreateList,
       test_label + create},
      {"other owners", Claim::kLabel, false, OwnerRepair::kAppend, test_label + append},
      {"a stale one at its index", Claim::kLabel, false, OwnerRepair::kReplace, test_label + replace},
      {"label and owner", Claim::kOwner, true, OwnerRepair::kReplace, label + replace},
      {"known by its uid, which is tested anyway", Claim::kUid, true, OwnerRepair::kCreateList, label + create},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const RepairNamespace repair{.name = "team-red",
                                   .uid = "uid-team-red",
                                   .claim = c.claim,
                                   .set_label = c.set_label,
                                   .owner_repair = c.owner_repair,
                                   .index = 3,
                                   .expected_uid = "uid-old",
                                   .owner = OwnerOf("red")};
      CHECK(Encoded(repair) == Patch("/api/v1/namespaces/team-red",
                                     R"([{"op":"test","path":"/metadata/uid","value":"uid-team-red"})" + c.want + "]"));
    }
  }
}

const std::string kQuotaPath = "/api/v1/namespaces/team-red/resourcequotas";

TEST_CASE("EncodeChange creates a quota", "[kube][codec_encode]") {
  CHECK(Encoded(CreateQuota{"team-red", {{"pods", "6"}, {"requests.cpu", "0.5"}}}) ==
        Sent{"POST", kQuotaPath + kQuery, "application/json",
             R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"team-quota"},)"
             R"("spec":{"hard":{"pods":"6","requests.cpu":"0.5"}}})"});
}

TEST_CASE("EncodeChange changes a quota guarded by uid and spec.hard as listed, verbatim", "[kube][codec_encode]") {
  const std::string add = R"({"op":"add","path":"/spec/hard","value":{"pods":"6","requests.cpu":"2"}}])";
  const std::string uid = R"([{"op":"test","path":"/metadata/uid","value":"uid-q"},)";
  RepairQuota repair{"team-red", "uid-q", {{"a", "1"}, {"pods", "99"}}, {{"pods", "6"}, {"requests.cpu", "2"}}};
  CHECK(Encoded(repair) == Patch(kQuotaPath + "/team-quota",
                                 uid + R"({"op":"test","path":"/spec/hard","value":{"a":"1","pods":"99"}},)" + add));
  repair.observed.clear();
  CHECK(Encoded(repair) ==
        Patch(kQuotaPath + "/team-quota", uid + R"({"op":"test","path":"/spec/hard","value":null},)" + add));
}

TEST_CASE("EncodeChange deletes a quota with its uid as precondition", "[kube][codec_encode]") {
  CHECK(Encoded(DeleteQuota{"team-red", "uid-q"}) ==
        Sent{"DELETE", kQuotaPath + "/team-quota", "application/json",
             R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"uid-q"}})"});
}

TEST_CASE("EncodeChange tests no message that the server encodes otherwise, which could never hold",
          "[kube][codec_encode]") {
  const auto tests_message = [](const std::string& message) {
    TeamSpaceStatus observed = TeamSpaceNamed("red").status;
    observed.ready->message = message;
    const Change change{WriteStatus{observed, ReconciledStatus(observed, "red", 2, kNow)}, Cause::kBehind, {}};
    return Contains(EncodeChange(Chain{.name = "red"}, change).body, "/status/conditions/0/message");
  };
  CHECK(tests_message("it is \"refused\", \xC3\xBC and all"));
  for (const char* message : {"can't delete: , <nil>", "a > b", "R&D", "a\nb", "a\x1B[2J", "a\xE2\x80\xA8z",
                              "a\xE2\x80\xA9z", "a\u009bz", "a\x7fz", "a\u202ez", "a\u2066z"}) {
    CAPTURE(message);
    CHECK_FALSE(tests_message(message));
  }
}

TEST_CASE("EncodeChange writes status on its subresource, each member with its old value as guard",
          "[kube][codec_encode]") {
  const TeamSpaceStatus observed = TeamSpaceNamed("red").status;
  const std::string ready = R"({"type":"Ready","status":"True","observedGeneration":2,)"
                            R"("lastTransitionTime":"2031-01-02T03:04:05Z","reason":"Reconciled",)"
                            R"("message":"namespace team-red and its quota are as specified"})";
  const std::string at_now = R"({"type":"Ready","status":"True","observedGeneration":2,)"
                             R"("lastTransitionTime":"2031-05-06T07:08:09Z","reason":"Reconciled",)"
                             R"("message":"namespace team-red and its quota are as specified"})";
  struct Case {
    std::string name;
    TeamSpaceStatus observed;
    TeamSpaceStatus desired;
    std::string want;
  };
  TeamSpaceStatus empty;
  empty.present = true;
  TeamSpaceStatus other_conditions = observed;
  other_conditions.ready.reset();
  TeamSpaceStatus second = observed;
  second.ready_index = 1;
  TeamSpaceStatus ungenerated = observed;
  ungenerated.ready->observed_generation.reset();
  TeamSpaceStatus conflict = observed;
  conflict.namespace_name.reset();
  const auto as_listed = [](const std::string& place, const std::string& generation) {
    const auto test = [&place](const std::string& member, const std::string& value) {
      return R"(,{"op":"test","path":"/status/conditions/)" + place + "/" + member + R"(","value":)" + value + "}";
    };
    return test("type", R"("Ready")") + test("status", R"("True")") + test("reason", R"("Reconciled")") +
           test("message", R"("namespace team-red and its quota are as specified")") +
           test("lastTransitionTime", R"("2031-01-02T03:04:05Z")") + test("observedGeneration", generation);
  };
  TeamSpaceStatus archived = observed;
  archived.ready.reset();
  TeamSpaceStatus older = observed;
  older.namespace_uid.reset();
  const std::string generation_1_to_2 = R"(,{"op":"test","path":"/status/observedGeneration","value":1})"
                                        R"(,{"op":"add","path":"/status/observedGeneration","value":2})";
  const std::vector<Case> cases{
      {"no status",
       {},
       ReconciledStatus({}, "red", 2, kNow),
       R"(,{"op":"test","path":"/status","value":null},{"op":"add","path":"/status","value":)"
       R"({"observedGeneration":2,"namespace":"team-red","conditions":[)" +
           at_now + "]}}"},
      {"an empty status", empty, ReconciledStatus(empty, "red", 2, kNow),
       R"(,{"op":"test","path":"/status/observedGeneration","value":null})"
       R"(,{"op":"add","path":"/status/observedGeneration","value":2})"
       R"(,{"op":"test","path":"/status/namespace","value":null})"
       R"(,{"op":"add","path":"/status/namespace","value":"team-red"})"
       R"(,{"op":"test","path":"/status/conditions","value":null})"
       R"(,{"op":"add","path":"/status/conditions","value":[)" +
           at_now + "]}"},
      {"a new generation", observed, ReconciledStatus(observed, "red", 2, kNow),
       generation_1_to_2 + as_listed("0", "1") + R"(,{"op":"replace","path":"/status/conditions/0","value":)" + ready +
           "}"},
      {"Ready is the second condition", second, ReconciledStatus(second, "red", 2, kNow),
       generation_1_to_2 + as_listed("1", "1") + R"(,{"op":"replace","path":"/status/conditions/1","value":)" + ready +
           "}"},
      {"a Ready without a generation", ungenerated, ReconciledStatus(ungenerated, "red", 2, kNow),
       generation_1_to_2 + as_listed("0", "null") + R"(,{"op":"replace","path":"/status/conditions/0","value":)" +
           ready + "}"},
      {"conditions of others only", other_conditions, ReconciledStatus(other_conditions, "red", 2, kNow),
       generation_1_to_2 + R"(,{"op":"add","path":"/status/conditions/-","value":)" + at_now + "}"},
      {"the namespace is no longer ours", observed, conflict,
       R"(,{"op":"test","path":"/status/namespace","value":"team-red"})"
       R"(,{"op":"remove","path":"/status/namespace"})"},
      {"the uid of the namespace, after an upgrade", older, observed,
       R"(,{"op":"test","path":"/status/namespaceUID","value":null})"
       R"(,{"op":"add","path":"/status/namespaceUID","value":"uid-team-red"})"},
      {"the uid has no place any more", observed, older,
       R"(,{"op":"test","path":"/status/namespaceUID","value":"uid-team-red"})"
       R"(,{"op":"remove","path":"/status/namespaceUID"})"},
      {"Ready goes", observed, archived, as_listed("0", "1") + R"(,{"op":"remove","path":"/status/conditions/0"})"},
      {"a whole status with the uid",
       {},
       [&observed] {
         TeamSpaceStatus status = observed;
         status.ready.reset();
         return status;
       }(),
       R"(,{"op":"test","path":"/status","value":null},{"op":"add","path":"/status","value":)"
       R"({"observedGeneration":1,"namespace":"team-red","namespaceUID":"uid-team-red"}})"},
      {"another namespace was told",
       [&observed] {
         TeamSpaceStatus status = observed;
         status.namespace_name = "team-blue";
         return status;
       }(),
       observed,
       R"(,{"op":"test","path":"/status/namespace","value":"team-blue"})"
       R"(,{"op":"add","path":"/status/namespace","value":"team-red"})"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(Encoded(WriteStatus{c.observed, c.desired}) ==
            Patch(kTeamSpacePath + "/status", "[" + kTestUid + c.want + "]"));
    }
  }
}

TEST_CASE("EncodeChange writes no observedGeneration into a status that never had one", "[kube][codec_encode]") {
  const TeamSpaceStatus refused =
      RefusedStatus({}, {Reason::kNamespaceConflict, "not \"ours\""}, 3, std::nullopt, kNow);
  CHECK(Encoded(WriteStatus{{}, refused}) ==
        Patch(kTeamSpacePath + "/status",
              "[" + kTestUid +
                  R"(,{"op":"test","path":"/status","value":null},{"op":"add","path":"/status","value":)"
                  R"({"conditions":[{"type":"Ready","status":"False","observedGeneration":3,)"
                  R"("lastTransitionTime":"2031-05-06T07:08:09Z","reason":"NamespaceConflict",)"
                  R"("message":"not \"ours\""}]}}])"));
}

const WriteArchive kArchive{.name = "red",
                            .uid = "uid-red",
                            .pods = 6,
                            .cpu = "1.5",
                            .generation = 3,
                            .deleted_at = kEarlierText,
                            .archived_at = kNowText};

TEST_CASE("EncodeArchive keeps name, uid, pods, cpu, generation and both times", "[kube][codec_encode]") {
  CHECK(EncodeArchive(kArchive) ==
        "{\n  \"version\": 1,\n  \"name\": \"red\",\n  \"uid\": \"uid-red\",\n  \"pods\": 6,\n"
        "  \"cpu\": \"1.5\",\n  \"generation\": 3,\n  \"deletedAt\": \"2031-01-02T03:04:05Z\",\n"
        "  \"archivedAt\": \"2031-05-06T07:08:09Z\"\n}\n");
}

TEST_CASE("EncodeArchive adds spec, labels and annotations as they were listed", "[kube][codec_encode]") {
  WriteArchive archive = kArchive;
  archive.texts = ArchivedTexts{R"({"pods":6,"cpu":"1.5"})", "", R"({"a":"\"b\""})"};
  const std::string text = EncodeArchive(archive);
  CHECK(
      text.ends_with("\"archivedAt\": \"2031-05-06T07:08:09Z\",\n  \"spec\": {\"pods\":6,\"cpu\":\"1.5\"},\n"
                     "  \"annotations\": {\"a\":\"\\\"b\\\"\"}\n}\n"));
}

TEST_CASE("EncodeArchive says null for pods that did not decode", "[kube][codec_encode]") {
  WriteArchive archive = kArchive;
  archive.pods.reset();
  CHECK(EncodeArchive(archive).find("\"pods\": null,\n") != std::string::npos);
}

}  // namespace
}  // namespace cnpa
