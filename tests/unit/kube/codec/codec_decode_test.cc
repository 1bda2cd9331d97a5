// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "kube/codec/codec.h"
#include "kube/json/list_splitter.h"
#include "support/answers.h"
#include "support/catch.h"

namespace cnpa {
namespace {

template <typename T>
using Decoder = Result<T> (*)(JsonDocument&, std::string&);

template <typename T>
Result<T> Decode(Decoder<T> decode, std::string item) {
  JsonDocument document;
  return decode(document, item);
}

/// Decodes a recorded list as a pass does, by name of what holds the object apart.
template <typename T>
std::map<std::string, T> DecodeList(const std::string& file, const Collection& collection, Decoder<T> decode,
                                    std::string T::*key) {
  std::map<std::string, T> objects;
  JsonDocument document;
  ListSplitter splitter([&](std::string& item) -> Status {
    Result<T> object = decode(document, item);
    if (!object) return tl::unexpected<Error>(object.error());
    objects.emplace((*object).*key, *object);
    return {};
  });
  REQUIRE(ErrorOf(splitter.Feed(AnswerText(file))) == std::nullopt);
  const Result<std::string> envelope = splitter.Finish();
  REQUIRE(envelope);
  const Result<ListEnvelope> decoded = DecodeEnvelope(*envelope, collection, splitter.items());
  REQUIRE(ErrorOf(decoded) == std::nullopt);
  CHECK(decoded->resource_version == AnswerString(file, "/metadata/resourceVersion"));
  return objects;
}

/// Returns the uid of item `index` of a recorded list.
std::string UidOf(const std::string& file, int index) {
  return AnswerString(file, "/items/" + std::to_string(index) + "/metadata/uid");
}

/// Returns an entry of the managedFields of item `index` of a recorded list.
Writer RecordedWriter(const std::string& file, int index, int entry, const std::string& manager,
                      const std::string& subresource = {}) {
  const std::string place = "/items/" + std::to_string(index) + "/metadata/managedFields/" + std::to_string(entry);
  CHECK(AnswerString(file, place + "/manager") == manager);
  return {manager, "Update", subresource, *ParseTime(AnswerString(file, place + "/time"))};
}

TEST_CASE("DecodeTeamSpace reads the list of a real server", "[kube][codec_decode]") {
  const std::string file = "200-teamspaces.json";
  const auto team_spaces = DecodeList(file, kTeamSpaces, &DecodeTeamSpace, &TeamSpace::name);
  REQUIRE(team_spaces.size() == 5);
  const std::string creator = "cnpa-op-control-plane";
  const Writer ours = RecordedWriter(file, 0, 0, "cnpa-op", "status");
  CHECK(team_spaces.at("alpha") ==
        TeamSpace{.name = "alpha",
                  .uid = UidOf(file, 0),
                  .generation = 1,
                  .finalizers = {std::string(kFinalizer)},
                  .pods = 4,
                  .cpu = "1",
                  .status = {.present = true,
                             .observed_generation = 1,
                             .namespace_name = "team-alpha",
                             .has_conditions = true,
                             .ready = Condition{"Ready", "True", 1, "2031-05-06T07:08:09Z", "Reconciled",
                                                "namespace team-alpha and its quota are as specified"},
                             .ready_index = 1},
                  .trace = {ours.time, {}},  // Who made it did so in the second of our write, before us.
                  .status_trace = {ours.time, {}}});
  CHECK(team_spaces.at("beta") ==
        TeamSpace{.name = "beta",
                  .uid = UidOf(file, 1),
                  .generation = 2,
                  .finalizers = {"example.com/hold"},
                  .pods = 3,
                  .cpu = "0.5",
                  .trace = {std::nullopt,
                            {RecordedWriter(file, 1, 0, creator), RecordedWriter(file, 1, 1, "kubectl-patch")}}});
  CHECK(team_spaces.at("omega") ==
        TeamSpace{.name = "omega",
                  .uid = UidOf(file, 4),
                  .generation = 2,
                  .deletion_timestamp = AnswerString(file, "/items/4/metadata/deletionTimestamp"),
                  .finalizers = {"example.com/hold", std::string(kFinalizer)},
                  .pods = 50,
                  .cpu = "1.5",
                  .archived = ArchivedTexts{R"({"cpu":"1.5","pods":50})", "", ""},
                  .trace = {std::nullopt, {RecordedWriter(file, 4, 0, creator)}}});
}

TEST_CASE("DecodeNamespace reads the list of a real server", "[kube][codec_decode]") {
  const std::string file = "200-namespaces.json";
  const auto namespaces = DecodeList(file, kNamespaces, &DecodeNamespace, &Namespace::name);
  const auto owner = [](const std::string& name, int index) {
    return OwnerReference{"platform.labhub.io/v1alpha1", "TeamSpace", name, UidOf("200-teamspaces.json", index)};
  };
  CHECK(namespaces.at("team-alpha") == Namespace{.name = "team-alpha",
                                                 .uid = UidOf(file, 4),
                                                 .team_space_label = "alpha",
                                                 .owners = {owner("alpha", 0)},
                                                 .trace = {RecordedWriter(file, 4, 0, "cnpa-op").time, {}}});
  const Namespace& beta = namespaces.at("team-beta");
  CHECK(beta.team_space_label == "other");
  CHECK(beta.owners == std::vector<OwnerReference>{owner("beta", 1)});
  const Writer& labeller = beta.writers.at(LabelPath());
  CHECK(labeller.manager == "kubectl-label");
  CHECK(labeller.operation == "Update");
  CHECK(labeller.time.has_value());
  CHECK(beta.trace == WriteTrace{RecordedWriter(file, 5, 0, "cnpa-op").time, {labeller}});
  const auto by_creator = [&file](int index) {
    return WriteTrace{std::nullopt, {RecordedWriter(file, index, 0, "cnpa-op-control-plane")}};
  };
  CHECK(namespaces.at("team-delta") ==
        Namespace{.name = "team-delta", .uid = UidOf(file, 6), .terminating = true, .trace = by_creator(6)});
  CHECK(namespaces.at("team-sports") ==
        Namespace{.name = "team-sports", .uid = UidOf(file, 8), .trace = by_creator(8)});
  CHECK(namespaces.at("kube-system").uid == UidOf(file, 3));
}

TEST_CASE("DecodeQuota reads the list of a real server, and who wrote which key", "[kube][codec_decode]") {
  const std::string file = "200-resourcequotas.json";
  const auto quotas = DecodeList(file, kQuotas, &DecodeQuota, &Quota::namespace_name);
  CHECK(quotas.at("team-alpha") == Quota{.namespace_name = "team-alpha",
                                         .uid = UidOf(file, 0),
                                         .hard = {{"pods", "4"}, {"requests.cpu", "1"}},
                                         .trace = {RecordedWriter(file, 0, 0, "cnpa-op").time, {}}});
  const Quota& beta = quotas.at("team-beta");
  CHECK(beta.hard ==
        std::map<std::string, std::string>{{"count/secrets", "3"}, {"pods", "99"}, {"requests.cpu", "500m"}});
  CHECK_FALSE(beta.scoped);
  CHECK(beta.writers.size() == 2);  // Not requests.cpu: cnpa-op wrote that; not the controller's status.
  CHECK(beta.writers.at("spec.hard.pods").manager == "kubectl-patch");
  CHECK(beta.writers.at("spec.hard.pods").subresource.empty());
  CHECK(beta.writers.at("spec.hard.pods").time.has_value());
  CHECK(beta.trace == WriteTrace{RecordedWriter(file, 1, 0, "cnpa-op").time, {beta.writers.at("spec.hard.pods")}});
  CHECK(quotas.at("team-gamma").scoped);
  CHECK(quotas.at("team-gamma").writers.at(std::string(kScopesPath)).manager == "kubectl-create");
  CHECK(quotas.at("team-gamma").writers.at("spec.hard.pods").manager == "kubectl-create");
}

TEST_CASE("DecodeEnvelope reads an empty list and the token of a first page", "[kube][codec_decode]") {
  const auto quotas = DecodeList("200-no-resourcequotas.json", kQuotas, &DecodeQuota, &Quota::namespace_name);
  CHECK(quotas.empty());
  ListSplitter splitter([](std::string&) -> Status { return {}; });
  const std::string page = "200-first-page-of-teamspaces.json";
  REQUIRE(splitter.Feed(AnswerText(page)));
  const Result<ListEnvelope> envelope = DecodeEnvelope(*splitter.Finish(), kTeamSpaces, splitter.items());
  REQUIRE(envelope);
  CHECK(envelope->continue_token == AnswerString(page, "/metadata/continue"));
  CHECK(splitter.items() == 1);
}

TEST_CASE("DecodeEnvelope refuses what is not the list that was asked for", "[kube][codec_decode]") {
  struct Case {
    std::string name;
    std::string text;
    std::string want;
  };
  const std::string metadata = R"("metadata":{"resourceVersion":"1"})";
  const std::vector<Case> cases{
      {"another kind", R"({"kind":"PodList","apiVersion":"v1",)" + metadata + R"(,"items":[]})",
       "expected a NamespaceList of v1, got 'PodList' of 'v1'"},
      {"another version", R"({"kind":"NamespaceList","apiVersion":"v2",)" + metadata + R"(,"items":[]})",
       "expected a NamespaceList of v1, got 'NamespaceList' of 'v2'"},
      {"a Status", R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure"})",
       "expected a NamespaceList of v1, got 'Status' of 'v1'"},
      {"a proxy's page", R"({"hello":"world"})", "expected a NamespaceList of v1, got '' of ''"},
      {"no metadata", R"({"kind":"NamespaceList","apiVersion":"v1","items":[]})",
       "'metadata.resourceVersion' is missing"},
      {"no resourceVersion", R"({"kind":"NamespaceList","apiVersion":"v1","metadata":{},"items":[]})",
       "'metadata.resourceVersion' is missing"},
      {"no items", R"({"kind":"NamespaceList","apiVersion":"v1",)" + metadata + "}",
       "'items' is not a list of objects"},
      {"fewer items than were taken out",
       R"({"kind":"NamespaceList","apiVersion":"v1",)" + metadata + R"(,"items":[0]})", ""},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const std::size_t items = c.want.empty() ? 2 : 0;
      const std::string want = c.want.empty() ? "'items' is not a list of objects" : c.want;
      CHECK(ErrorOf(DecodeEnvelope(c.text, kNamespaces, items)) == Error{ErrorCode::kMalformed, want});
    }
  }
}

TEST_CASE("DecodeTeamSpace, DecodeNamespace and DecodeQuota refuse an item without usable name or uid",
          "[kube][codec_decode]") {
  struct Case {
    std::string name;
    std::string metadata;
    std::string want;
  };
  const std::string bad_name = "'metadata.name' is not the name of an object";
  const std::string bad_uid = "'metadata.uid' is not a uid";
  const std::vector<Case> cases{
      {"no metadata", "null", "'metadata.name' is missing"},
      {"no name", R"({"uid":"u"})", "'metadata.name' is missing"},
      {"no uid", R"({"name":"team-quota"})", "'metadata.uid' is missing"},
      {"an empty uid", R"({"name":"team-quota","uid":""})", "'metadata.uid' is missing"},
      {"a number for a name", R"({"name":1,"uid":"u"})", "'metadata.name' is not a string"},
      {"a name that leads out of its folder", R"({"name":"../x","uid":"u"})", bad_name},
      {"a name with a slash", R"({"name":"a/b","uid":"u"})", bad_name},
      {"a name of a dot", R"({"name":".","uid":"u"})", bad_name},
      {"a name of two dots", R"({"name":"..","uid":"u"})", bad_name},
      {"a name that begins with a dot", R"({"name":".a","uid":"u"})", bad_name},
      {"a name that ends with a dot", R"({"name":"a.","uid":"u"})", bad_name},
      {"a name with a query", R"({"name":"a?b","uid":"u"})", bad_name},
      {"a name in capitals", R"({"name":"A","uid":"u"})", bad_name},
      {"a name with an escape", R"({"name":"a%2fb","uid":"u"})", bad_name},
      {"a name that is too long", R"({"name":")" + std::string(254, 'a') + R"(","uid":"u"})", bad_name},
      {"a uid with a slash", R"({"name":"team-quota","uid":"../u"})", bad_uid},
      {"a uid that is too long", R"({"name":"team-quota","uid":")" + std::string(65, 'a') + R"("})", bad_uid},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const std::string item = R"({"metadata":)" + c.metadata + R"(,"spec":{"pods":1}})";
      const Error want{ErrorCode::kMalformed, c.want};
      CHECK(ErrorOf(Decode(&DecodeTeamSpace, item)) == want);
      CHECK(ErrorOf(Decode(&DecodeNamespace, item)) == want);
      CHECK(ErrorOf(Decode(&DecodeQuota, item)) == want);
    }
  }
}

TEST_CASE("DecodeTeamSpace refuses an item of another kind", "[kube][codec_decode]") {
  CHECK(ErrorOf(Decode(&DecodeTeamSpace, R"({"kind":"Pod","metadata":{"name":"a","uid":"u"}})")) ==
        Error{ErrorCode::kMalformed, "'kind' is 'Pod', not TeamSpace"});
}

TEST_CASE("DecodeQuota refuses an item of another name or without a namespace", "[kube][codec_decode]") {
  CHECK(ErrorOf(Decode(&DecodeQuota, R"({"metadata":{"name":"other","namespace":"x","uid":"u"}})")) ==
        Error{ErrorCode::kMalformed, "'metadata.name' is not team-quota"});
  CHECK(ErrorOf(Decode(&DecodeQuota, R"({"metadata":{"name":"team-quota","uid":"u"}})")) ==
        Error{ErrorCode::kMalformed, "'metadata.namespace' is missing"});
}

TEST_CASE("DecodeTeamSpace notes what else does not decode as unreadable", "[kube][codec_decode]") {
  struct Case {
    std::string name;
    std::string members;
    std::string want;
  };
  const std::vector<Case> cases{
      {"no spec", R"("x":1)", "'spec.pods' is missing"},
      {"no pods", R"("spec":{})", "'spec.pods' is missing"},
      {"pods as text", R"("spec":{"pods":"4"})", "'spec.pods' is not an integer of 64 bits"},
      {"pods as a fraction", R"("spec":{"pods":4.5})", "'spec.pods' is not an integer of 64 bits"},
      {"cpu as a number", R"("spec":{"pods":4,"cpu":2})", "'spec.cpu' is not a string"},
      {"status of another type", R"("spec":{"pods":4},"status":[])", "'status' is not an object"},
      {"observedGeneration as text", R"("spec":{"pods":4},"status":{"observedGeneration":"1"})",
       "'status.observedGeneration' is not an integer of 64 bits"},
      {"conditions of another type", R"("spec":{"pods":4},"status":{"conditions":{}})",
       "'status.conditions' is not a list"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const auto red = Decode(&DecodeTeamSpace, R"({"metadata":{"name":"red","uid":"u"},)" + c.members + "}");
      REQUIRE(red);
      CHECK(red->name == "red");
      CHECK(red->unreadable == "cannot read teamspace red: " + c.want);
    }
  }
}

TEST_CASE("DecodeTeamSpace takes a missing cpu as the CRD's default", "[kube][codec_decode]") {
  const auto red = Decode(&DecodeTeamSpace, R"({"metadata":{"name":"red","uid":"u"},"spec":{"pods":4}})");
  REQUIRE(red);
  CHECK(*red == TeamSpace{.name = "red", .uid = "u", .pods = 4, .cpu = "1"});
}

TEST_CASE("DecodeTeamSpace tells an empty status, and empty conditions, from none", "[kube][codec_decode]") {
  const auto status = [](const std::string& text) {
    return Decode(&DecodeTeamSpace, R"({"metadata":{"name":"red","uid":"u"},"spec":{"pods":4},"status":)" + text + "}")
        ->status;
  };
  CHECK(status("null") == TeamSpaceStatus());
  CHECK(status("{}") == TeamSpaceStatus{.present = true});
  CHECK(status(R"({"conditions":[]})") == TeamSpaceStatus{.present = true, .has_conditions = true});
  CHECK(status(R"({"conditions":[{"type":"Other"}]})") == TeamSpaceStatus{.present = true, .has_conditions = true});
}

TEST_CASE("DecodeNamespace notes what does not decode as unreadable", "[kube][codec_decode]") {
  struct Case {
    std::string metadata;
    std::string want;
  };
  const std::vector<Case> cases{
      {R"("labels":{"platform.labhub.io/teamspace":1})",
       "'metadata.labels.platform.labhub.io/teamspace' is not a string"},
      {R"("labels":[])", "'metadata.labels' is not an object"},
      {R"("ownerReferences":{})", "'metadata.ownerReferences' is not a list"},
      {R"("ownerReferences":[{"uid":1}])", "'metadata.ownerReferences[0].uid' is not a string"},
      {R"("managedFields":[1])", "'metadata.managedFields[0]' is not an object"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.metadata) {
      const auto space = Decode(&DecodeNamespace, R"({"metadata":{"name":"team-red","uid":"u",)" + c.metadata + "}}");
      REQUIRE(space);
      CHECK(space->unreadable == "cannot read namespace team-red: " + c.want);
      // Of a namespace that can be nobody's the rest is not looked at.
      const auto other = Decode(&DecodeNamespace, R"({"metadata":{"name":"other","uid":"u",)" + c.metadata + "}}");
      REQUIRE(other);
      CHECK(other->unreadable.empty());
    }
  }
}

TEST_CASE("DecodeNamespace takes deletionTimestamp or phase as Terminating", "[kube][codec_decode]") {
  const auto terminating = [](const std::string& rest) {
    return Decode(&DecodeNamespace, R"({"metadata":{"name":"team-red","uid":"u")" + rest + "}")->terminating;
  };
  CHECK_FALSE(terminating("}"));
  CHECK_FALSE(terminating(R"(},"status":{"phase":"Active"})"));
  CHECK(terminating(R"(},"status":{"phase":"Terminating"})"));
  CHECK(terminating(R"(,"deletionTimestamp":"2031-05-06T07:08:09Z"})"));
}

TEST_CASE("DecodeQuota takes scopes and scopeSelector as scoped, empty scopes as none", "[kube][codec_decode]") {
  const auto scoped = [](const std::string& spec) {
    return Decode(&DecodeQuota,
                  R"({"metadata":{"name":"team-quota","namespace":"team-red","uid":"u"},"spec":)" + spec + "}")
        ->scoped;
  };
  CHECK_FALSE(scoped("{}"));
  CHECK_FALSE(scoped(R"({"scopes":[]})"));
  CHECK(scoped(R"({"scopes":["BestEffort"]})"));
  CHECK(scoped(R"({"scopeSelector":{"matchExpressions":[]}})"));
}

/// A metadata of a name, with entries of managedFields: "manager time subresource fieldsV1".
std::string ManagedMetadata(const std::string& name, const std::vector<std::array<std::string, 4>>& entries) {
  std::string fields;
  for (const auto& [manager, second, subresource, fields_v1] : entries) {
    if (!fields.empty()) fields += ',';
    for (const std::string& part :
         {std::string(R"({"operation":"Update","manager":")"), manager, std::string(R"(","time":"2031-05-06T07:08:0)"),
          second, std::string(R"(Z","subresource":")"), subresource, std::string(R"(","fieldsV1":)"), fields_v1,
          std::string("}")}) {
      fields += part;
    }
  }
  const std::string space = name == kQuotaName ? R"("namespace":"team-red",)" : "";
  return R"({"name":")" + name + R"(",)" + space + R"("uid":"u","managedFields":[)" + fields + "]}";
}

Writer Managed(const std::string& manager, int second, const std::string& subresource = {}) {
  return {manager, "Update", subresource, *ParseTime("2031-05-06T07:08:0" + std::to_string(second) + "Z")};
}

TEST_CASE("DecodeTeamSpace tells who wrote which field of the status", "[kube][codec_decode]") {
  const std::string ready = R"("f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:reason":{},"f:status":{}},)"
                            R"("k:{\"type\":\"Billed\"}":{"f:message":{}}})";
  const auto red =
      Decode(&DecodeTeamSpace,
             R"({"metadata":)" +
                 ManagedMetadata("red", {{"a", "1", "", R"({"f:spec":{"f:pods":{}}})"},
                                         {"cnpa-op", "2", "status", R"({"f:status":{"f:namespace":{}}})"},
                                         {"b", "3", "status", R"({"f:status":{"f:namespace":{},)" + ready + "}}"},
                                         {"c", "4", "status", R"({"f:status":{"f:observedGeneration":{}}})"},
                                         {"d", "2", "status", R"({"f:status":{"f:namespace":{}}})"}}) +
                 R"(,"spec":{"pods":4}})");
  REQUIRE(red);
  CHECK(red->unreadable.empty());
  const Writer b = Managed("b", 3, "status");
  const Writer c = Managed("c", 4, "status");
  // Two own the namespace: the later one counts.
  CHECK(red->writers == FieldWriters{{std::string(kStatusNamespacePath), b},
                                     {std::string(kObservedGenerationPath), c},
                                     {ReadyMemberPath("reason"), b},
                                     {ReadyMemberPath("status"), b}});
  CHECK(red->trace == WriteTrace{Managed("", 2).time, {}});
  CHECK(red->status_trace == WriteTrace{Managed("", 2).time, {c, b, Managed("d", 2, "status")}});
}

TEST_CASE("DecodeNamespace tells who wrote the label and which owner", "[kube][codec_decode]") {
  const auto space = Decode(
      &DecodeNamespace,
      R"({"metadata":)" +
          ManagedMetadata("team-red",
                          {{"a", "3", "", R"({"f:metadata":{"f:labels":{"f:platform.labhub.io/teamspace":{}}}})"},
                           {"b", "4", "",
                            R"({"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"x\"}":{},)"
                            R"("odd":{},"\"}":{},"k:{\"uid\":\"y":{},"k:{\"name\":\"y\"}":{}}}})"},
                           {"c", "5", "status", R"({"f:status":{"f:phase":{}}})"},
                           {"d", "6", "status", R"({"f:metadata":{"f:labels":{"f:other":{}}}})"}}) +
          "}");
  REQUIRE(space);
  CHECK(space->unreadable.empty());
  CHECK(space->writers == FieldWriters{{LabelPath(), Managed("a", 3)}, {OwnerPath("x"), Managed("b", 4)}});
  CHECK(space->trace == WriteTrace{std::nullopt, {Managed("d", 6, "status"), Managed("b", 4), Managed("a", 3)}});
}

TEST_CASE("DecodeQuota tells who wrote which key and the scopes, and which scopes they are", "[kube][codec_decode]") {
  const auto quota = Decode(
      &DecodeQuota,
      R"({"metadata":)" +
          ManagedMetadata("team-quota", {{"a", "3", "", R"({"f:spec":{"f:hard":{".":{},"f:pods":{}},"f:scopes":{}}})"},
                                         {"kube-controller-manager", "4", "status", R"({"f:status":{"f:used":{}}})"}}) +
          R"(,"spec":{"hard":{"pods":"1"},"scopes":["BestEffort","Terminating"]}})");
  REQUIRE(quota);
  const Writer a = Managed("a", 3);
  CHECK(quota->writers == FieldWriters{{"spec.hard.pods", a}, {std::string(kScopesPath), a}});
  CHECK(quota->trace == WriteTrace{std::nullopt, {a}});
  CHECK(quota->scopes == "BestEffort,Terminating");
}

TEST_CASE("DecodeQuota notes what does not decode as unreadable", "[kube][codec_decode]") {
  const auto unreadable = [](const std::string& spec) {
    return Decode(&DecodeQuota,
                  R"({"metadata":{"name":"team-quota","namespace":"team-red","uid":"u"},"spec":)" + spec + "}")
        ->unreadable;
  };
  CHECK(unreadable(R"({"hard":{"pods":4}})") ==
        "cannot read resourcequota team-red/team-quota: 'spec.hard.pods' is not a string");
  CHECK(unreadable(R"({"scopes":"BestEffort"})") ==
        "cannot read resourcequota team-red/team-quota: 'spec.scopes' is not a list");
}

TEST_CASE("ConfirmationPath asks for one TeamSpace by its name, as a list", "[kube][codec_decode]") {
  Chain chain;
  chain.name = "red";
  CHECK(ConfirmationPath(chain) == "/apis/platform.labhub.io/v1alpha1/teamspaces?fieldSelector=metadata.name%3Dred");
}

TEST_CASE("DecodeConfirmation wants the uid and the generation that were listed", "[kube][codec_decode]") {
  Chain chain;
  chain.name = "red";
  chain.uid = "u";
  chain.generation = 3;
  const auto confirm = [&chain](const std::string& items) {
    return ErrorOf(DecodeConfirmation(R"({"items":[)" + items + "]}", chain));
  };
  const Error other{ErrorCode::kConflict, "teamspace red is no longer what was listed"};
  CHECK(confirm(R"({"metadata":{"uid":"u","generation":3}})") == std::nullopt);
  CHECK(confirm(R"({"metadata":{"uid":"v","generation":3}})") == other);
  CHECK(confirm(R"({"metadata":{"uid":"u","generation":4}})") == other);
  CHECK(confirm("") == other);
  CHECK(confirm(R"({"metadata":{"generation":3}})")->code == ErrorCode::kMalformed);
  CHECK(ErrorOf(DecodeConfirmation("ok", chain))->code == ErrorCode::kMalformed);
  CHECK(ErrorOf(DecodeConfirmation(R"({"items":{}})", chain)) == Error{ErrorCode::kMalformed, "'items' is not a list"});
}

TEST_CASE("DecodeFoundNamespace reads the one that is there, if any", "[kube][codec_decode]") {
  const auto found = [](const std::string& items) { return DecodeFoundNamespace(R"({"items":[)" + items + "]}"); };
  CHECK_FALSE(found("").value());
  CHECK(
      *found(R"({"metadata":{"name":"team-red","uid":"u","labels":{"platform.labhub.io/teamspace":"red"}}})").value() ==
      Namespace{.name = "team-red", .uid = "u", .team_space_label = "red"});
  CHECK(ErrorOf(found(R"({"metadata":{"name":"team-red"}})"))->code == ErrorCode::kMalformed);
  CHECK(ErrorOf(found(R"({"metadata":{"name":"team-red","uid":"u","labels":1}})")) ==
        Error{ErrorCode::kMalformed, "cannot read namespace team-red: 'items[0].metadata.labels' is not an object"});
  CHECK(ErrorOf(DecodeFoundNamespace(R"({"items":{}})")) == Error{ErrorCode::kMalformed, "'items' is not a list"});
  CHECK(ErrorOf(DecodeFoundNamespace("ok"))->code == ErrorCode::kMalformed);
}

TEST_CASE("DecodeUid reads the uid of what was written", "[kube][codec_decode]") {
  CHECK(DecodeUid(R"({"kind":"Namespace","metadata":{"uid":"u"}})") == "u");
  CHECK(ErrorOf(DecodeUid(R"({"kind":"Namespace"})")) == Error{ErrorCode::kMalformed, "'metadata.uid' is missing"});
  CHECK(ErrorOf(DecodeUid("ok"))->code == ErrorCode::kMalformed);
}

TEST_CASE("DecodeTeamSpace keeps what only an archive holds, of those that wait for our finalizer alone",
          "[kube][codec_decode]") {
  const auto archived = [](const std::string& metadata) {
    std::string text = R"({"metadata":{"name":"red","uid":"u","labels":{"l":"\u00e9\n"},"annotations":{"a":"b"})" +
                       metadata + R"(},"spec":{"pods":3,"cpu":"1.5","more":{"x":[1,2.5,null,true]}}})";
    JsonDocument document;
    return DecodeTeamSpace(document, text)->archived;
  };
  const std::string deleted = R"(,"deletionTimestamp":"2031-01-02T03:04:05Z","finalizers":[)";
  CHECK(archived(deleted + R"("platform.labhub.io/cleanup"])") ==
        ArchivedTexts{R"({"pods":3,"cpu":"1.5","more":{"x":[1,2.5,null,true]}})", "{\"l\":\"\u00e9\\n\"}",
                      R"({"a":"b"})"});
  CHECK_FALSE(archived(deleted + R"("a.example/one"])"));
  CHECK_FALSE(archived(R"(,"finalizers":["platform.labhub.io/cleanup"])"));
}

TEST_CASE("DecodeQuota tells whether it is being deleted, and who may hold it", "[kube][codec_decode]") {
  const auto quota = [](const std::string& metadata, const std::string& spec) {
    std::string text =
        R"({"metadata":{"name":"team-quota","namespace":"team-red","uid":"u","finalizers":["a.example/x"])" + metadata +
        R"(},"spec":{)" + spec + "}}";
    JsonDocument document;
    return *DecodeQuota(document, text);
  };
  const std::string deleted = R"(,"deletionTimestamp":"2031-01-02T03:04:05Z")";
  CHECK(quota(deleted, "").terminating);
  CHECK(quota(deleted, "").finalizers == std::vector<std::string>{"a.example/x"});
  CHECK_FALSE(quota("", "").terminating);
  CHECK(quota("", "").finalizers.empty());  // Nobody asks.
  CHECK(quota("", R"("scopes":["BestEffort"])").finalizers == std::vector<std::string>{"a.example/x"});
}

TEST_CASE("DecodeCrd reads the shipped CRD, serving and going", "[kube][codec_decode]") {
  CHECK(DecodeCrd(AnswerText("200-crd.json")) == CrdFacts{.has_namespace_uid = true});
  CHECK(DecodeCrd(AnswerText("200-crd-deleting.json")) == CrdFacts{.deleting = true, .has_namespace_uid = true});
}

TEST_CASE("DecodeDiscovery tells a CRD that goes by its verbs", "[kube][codec_decode]") {
  CHECK(DecodeDiscovery(AnswerText("200-discovery.json")) == CrdFacts{});
  CHECK(DecodeDiscovery(AnswerText("200-discovery-of-deleting-crd.json")) == CrdFacts{.deleting = true});
  CHECK(DecodeDiscovery(R"({"resources":[]})") == CrdFacts{.deleting = true, .has_status = false});
  CHECK(DecodeDiscovery(R"({"resources":[{"name":"teamspaces","verbs":["create"]}]})") ==
        CrdFacts{.has_status = false});
}

TEST_CASE("DecodeCrd knows what of the status a CRD of somebody's own keeps", "[kube][codec_decode]") {
  const auto crd = [](const std::string& subresources, const std::string& status) {
    return DecodeCrd(R"({"metadata":{"uid":"u"},"spec":{"versions":[{"name":"v1","schema":{}},)"
                     R"({"name":"v1alpha1","subresources":)" +
                     subresources + R"(,"schema":{"openAPIV3Schema":{"properties":{"status":)" + status + "}}}}]}}");
  };
  const std::string on = R"({"status":{}})";
  const std::string seed = R"({"properties":{"observedGeneration":{},"namespace":{}}})";
  CHECK(crd(on, R"({"properties":{"observedGeneration":{},"namespace":{},"conditions":{}}})") == CrdFacts{});
  CHECK(crd(on, seed) == CrdFacts{.has_conditions = false});
  CHECK(crd("{}", seed) == CrdFacts{.has_status = false, .has_conditions = false});
  CHECK(crd(on, R"({"properties":{"namespace":{}}})") == CrdFacts{.has_status = false, .has_conditions = false});
  CHECK(crd(on, R"({"properties":{"observedGeneration":{},"namespace":{},"namespaceUID":{}}})") ==
        CrdFacts{.has_conditions = false, .has_namespace_uid = true});
  CHECK(crd(on, R"({"x-kubernetes-preserve-unknown-fields":true})") == CrdFacts{.has_namespace_uid = true});
  CHECK(crd("null", "null") == CrdFacts{.has_status = false, .has_conditions = false});
}

TEST_CASE("DecodePublishedSchema takes away what the status has no place for", "[kube][codec_decode]") {
  const auto publish = [](const std::string& status, CrdFacts facts = {}) {
    return DecodePublishedSchema(
        R"({"components":{"schemas":{"io.labhub.platform.v1alpha1.TeamSpace":{"properties":{"status":)" + status +
            "}}}}}",
        facts);
  };
  const std::string seed = R"("observedGeneration":{},"namespace":{})";
  CHECK(publish(R"({"properties":{)" + seed + R"(,"conditions":{}}})") == CrdFacts{});
  CHECK(publish(R"({"properties":{)" + seed + "}}") == CrdFacts{.has_conditions = false});
  CHECK(publish(R"({"properties":{"namespace":{},"conditions":{}}})") == CrdFacts{.has_status = false});
  CHECK(publish(R"({"properties":{)" + seed + R"(,"namespaceUID":{},"conditions":{}}})") ==
        CrdFacts{.has_namespace_uid = true});
  CHECK(publish(R"({"x-kubernetes-preserve-unknown-fields":true})") == CrdFacts{.has_namespace_uid = true});
  CHECK(publish(R"({"properties":{)" + seed + R"(,"conditions":{}}})", {.has_status = false}) ==
        CrdFacts{.has_status = false});
  CHECK(DecodePublishedSchema("{}", {.deleting = true}) == CrdFacts{.deleting = true});
  CHECK(DecodePublishedSchema("x", {}).error().code == ErrorCode::kMalformed);
}

TEST_CASE("DecodeTeamSpace refuses one that is in a namespace: the CRD has another scope", "[kube][codec_decode]") {
  JsonDocument document;
  std::string item = R"({"metadata":{"name":"red","namespace":"default","uid":"u"},"spec":{"pods":1}})";
  CHECK(ErrorOf(DecodeTeamSpace(document, item)) == Error{ErrorCode::kMalformed, "'red' is in a namespace"});
}

TEST_CASE("DecodeCrd and DecodeDiscovery refuse what they can't read", "[kube][codec_decode]") {
  CHECK(ErrorOf(DecodeCrd("{}")) == Error{ErrorCode::kMalformed, "'metadata.uid' is missing"});
  CHECK(ErrorOf(DecodeCrd(std::string(1000, '['))) == Error{ErrorCode::kMalformed, "nested too deep"});
  CHECK(ErrorOf(DecodeDiscovery(R"({"resources":{}})")) == Error{ErrorCode::kMalformed, "'resources' is not a list"});
  CHECK(DecodeDiscovery("ok").error().code == ErrorCode::kMalformed);
}

}  // namespace
}  // namespace cnpa
