// SPDX-License-Identifier: Apache-2.0
#include "support/fake_api_server.h"

#include <utility>

#include <fmt/core.h>
#include <rapidjson/document.h>
#include <rapidjson/pointer.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "kube/codec/codec.h"
#include "kube/json/json_writer.h"
#include "support/text.h"

namespace cnpa {
namespace {

using rapidjson::Document;
using rapidjson::Pointer;

constexpr std::string_view kCrd =
    R"({"metadata":{"uid":"uid-crd"},"spec":{"versions":[{"name":"v1alpha1","subresources":{"status":{}},)"
    R"("schema":{"openAPIV3Schema":{"properties":{"status":{"x-kubernetes-preserve-unknown-fields":true}}}}}]}})";

std::string Text(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return buffer.GetString();
}

Document Parsed(const std::string& text) {
  Document document;
  document.Parse(text.c_str());
  return document;
}

std::string StringAt(const rapidjson::Value& document, const char* pointer) {
  const rapidjson::Value* value = Pointer(pointer).Get(document);
  return value != nullptr && value->IsString() ? value->GetString() : "";
}

Response Ok(int code, std::string body) {
  Response response;
  response.code = code;
  response.body = std::move(body);
  return response;
}

/// Returns `details` as the server has them of the object at `path`: its collection, and its name.
std::string DetailsOf(const std::string& path) {
  const std::size_t name = path.rfind('/');
  const std::size_t kind = path.rfind('/', name - 1);
  return R"({"name":")" + path.substr(name + 1) + R"(","kind":")" + path.substr(kind + 1, name - kind - 1) + "\"}";
}

Response NotFound(const std::string& path) {
  return StatusAnswer(404, "NotFound", "not found", DetailsOf(path));
}

/// Performs one operation of a JSON Patch; returns whether it could be done.
///
/// Source:  RFC 6902; that `test` of null passes where nothing is was seen on a real server.
bool PerformOperation(Document& document, const rapidjson::Value& operation) {
  const std::string op = operation["op"].GetString();
  const Pointer path(operation["path"].GetString());
  rapidjson::Value* there = path.Get(document);
  if (op == "remove") return path.Erase(document);
  const rapidjson::Value& value = operation["value"];
  if (op == "test") return value.IsNull() ? there == nullptr || there->IsNull() : there != nullptr && *there == value;
  if (op == "replace" && there == nullptr) return false;
  const rapidjson::Value* parent = Pointer(path.GetTokens(), path.GetTokenCount() - 1).Get(document);
  if (parent == nullptr || !(parent->IsObject() || parent->IsArray())) return false;
  path.Set(document, rapidjson::Value(value, document.GetAllocator()));
  return true;
}

/// Of a DELETE with a body the server looks at that alone.
bool IsDryRun(const Request& request) {
  if (request.method == Method::kDelete && !request.body.empty()) {
    return Contains(request.body, R"("dryRun":["All"])");
  }
  return Contains(request.path, "dryRun=All");
}

void WriteMetadata(JsonWriter& writer, const std::string& name, const std::string& uid,
                   const std::function<void()>& rest) {
  writer.Object("metadata", [&] {
    writer.String("name", name);
    writer.String("uid", uid);
    rest();
  });
}

void WriteStatusMember(JsonWriter& writer, const TeamSpaceStatus& status) {
  writer.Object("status", [&] {
    if (status.observed_generation) writer.Int("observedGeneration", *status.observed_generation);
    if (status.namespace_name) writer.String("namespace", *status.namespace_name);
    if (status.namespace_uid) writer.String("namespaceUID", *status.namespace_uid);
    if (!status.has_conditions) return;
    writer.Array("conditions", [&] {
      if (!status.ready) return;
      writer.Object([&] {
        writer.String("type", status.ready->type);
        writer.String("status", status.ready->status);
        if (status.ready->observed_generation) writer.Int("observedGeneration", *status.ready->observed_generation);
        writer.String("lastTransitionTime", status.ready->last_transition_time);
        writer.String("reason", status.ready->reason);
        writer.String("message", status.ready->message);
      });
    });
  });
}

}  // namespace

Response StatusAnswer(int code, const std::string& reason, const std::string& message, const std::string& details) {
  return Ok(code, R"({"kind":"Status","status":"Failure","message":")" + message + R"(","reason":")" + reason +
                      R"(","details":)" + details + "}");
}

Response FailedTestAnswer() {
  return StatusAnswer(422, "Invalid", "the server rejected our request due to an error in our request");
}

std::string PathOfTeamSpace(const std::string& name) {
  return kTeamSpaces.path() + "/" + name;
}
std::string PathOfNamespace(const std::string& name) {
  return kNamespaces.path() + "/team-" + name;
}
std::string PathOfQuota(const std::string& name) {
  return PathOfNamespace(name) + "/resourcequotas/team-quota";
}

FakeApiServer::FakeApiServer() : FakeTransport([this](const Request& request) { return Handle(request); }) {
  Put(std::string(kCrdPath), std::string(kCrd));
}

void FakeApiServer::Put(const TeamSpace& team_space) {
  JsonWriter writer;
  writer.Object([&] {
    writer.String("apiVersion", kTeamSpaceApiVersion);
    writer.String("kind", kTeamSpaceKind);
    WriteMetadata(writer, team_space.name, team_space.uid, [&] {
      writer.Int("generation", team_space.generation);
      if (team_space.deleting()) writer.String("deletionTimestamp", team_space.deletion_timestamp);
      if (team_space.finalizers.empty()) return;
      writer.Array("finalizers", [&] {
        for (const std::string& finalizer : team_space.finalizers) writer.String(finalizer);
      });
    });
    writer.Object("spec", [&] {
      writer.Int("pods", team_space.pods.value_or(0));
      writer.String("cpu", team_space.cpu);
    });
    if (team_space.status.present) WriteStatusMember(writer, team_space.status);
  });
  Put(PathOfTeamSpace(team_space.name), writer.text());
}

void FakeApiServer::Put(const Namespace& space) {
  JsonWriter writer;
  writer.Object([&] {
    writer.String("apiVersion", "v1");
    writer.String("kind", "Namespace");
    WriteMetadata(writer, space.name, space.uid, [&] {
      if (space.terminating) writer.String("deletionTimestamp", "2031-01-02T03:04:05Z");
      writer.Object("labels", [&] {
        writer.String("kubernetes.io/metadata.name", space.name);
        if (space.team_space_label) writer.String(kTeamSpaceLabel, *space.team_space_label);
      });
      if (space.owners.empty()) return;
      writer.Array("ownerReferences", [&] {
        for (const OwnerReference& owner : space.owners) {
          writer.Object([&] {
            writer.String("apiVersion", owner.api_version);
            writer.String("kind", owner.kind);
            writer.String("name", owner.name);
            writer.String("uid", owner.uid);
          });
        }
      });
    });
  });
  Put(kNamespaces.path() + "/" + space.name, writer.text());
}

void FakeApiServer::Put(const Quota& quota) {
  JsonWriter writer;
  writer.Object([&] {
    writer.String("apiVersion", "v1");
    writer.String("kind", "ResourceQuota");
    WriteMetadata(writer, std::string(kQuotaName), quota.uid, [&] {
      writer.String("namespace", quota.namespace_name);
      if (quota.terminating) writer.String("deletionTimestamp", "2031-01-02T03:04:05Z");
      if (quota.finalizers.empty()) return;
      writer.Array("finalizers", [&] {
        for (const std::string& finalizer : quota.finalizers) writer.String(finalizer);
      });
    });
    writer.Object("spec", [&] {
      writer.Object("hard", [&] {
        for (const auto& [key, value] : quota.hard) writer.String(key, value);
      });
      if (quota.scoped) writer.Array("scopes", [&] { writer.String("BestEffort"); });
    });
  });
  Put(kNamespaces.path() + "/" + quota.namespace_name + "/resourcequotas/team-quota", writer.text());
}

void FakeApiServer::Put(const Observation& cluster) {
  for (const TeamSpace& team_space : cluster.team_spaces) Put(team_space);
  for (const Namespace& space : cluster.namespaces) Put(space);
  for (const Quota& quota : cluster.quotas) Put(quota);
}

std::string FakeApiServer::At(const std::string& path, const std::string& pointer) const {
  const auto found = objects_.find(path);
  if (found == objects_.end()) return {};
  const Document document = Parsed(found->second);
  const rapidjson::Value* value = Pointer(pointer.c_str()).Get(document);
  return value != nullptr ? Text(*value) : "";
}

std::vector<std::string> FakeApiServer::TakeWrites() {
  std::vector<std::string> writes;
  for (; seen_ < requests.size(); ++seen_) {
    const Request& request = requests[seen_];
    if (request.method == Method::kGet) continue;
    writes.push_back(std::string(MethodName(request.method)) + " " + request.path.substr(0, request.path.find('?')));
  }
  return writes;
}

Result<Response> FakeApiServer::Handle(const Request& request) {
  if (before) before(request);
  if (failure && (std::string(MethodName(request.method)) + " " + request.path).starts_with(failure->request))
    return failure->answer;
  if (request.method == Method::kGet || !IsDryRun(request)) return Perform(request);
  const std::map<std::string, std::string> kept = objects_;
  const Response answer = Perform(request);
  objects_ = kept;
  return answer;
}

Response FakeApiServer::Perform(const Request& request) {
  const std::string path = request.path.substr(0, request.path.find('?'));
  switch (request.method) {
    case Method::kGet: return Get(path, request.path.substr(path.size()));
    case Method::kPost: return Create(path, request.body);
    case Method::kPatch: return Patch(path, request.body);
    case Method::kDelete: return Delete(path, request.body);
  }
  return NotFound(path);
}

Response FakeApiServer::Get(const std::string& path, const std::string& query) const {
  if (path == "/readyz") return Ok(200, "ok");
  if (const auto found = objects_.find(path); found != objects_.end()) return Ok(200, found->second);
  const bool all_quotas = path == "/api/v1/resourcequotas";
  const Collection* collection = path == kTeamSpaces.path()   ? &kTeamSpaces
                                 : path == kNamespaces.path() ? &kNamespaces
                                                              : nullptr;
  if (path.ends_with("/resourcequotas")) collection = &kQuotas;
  if (collection == nullptr) return NotFound(path);
  const std::string selector = "fieldSelector=metadata.name%3D";
  const std::size_t selected = query.find(selector);
  const std::string name = selected == std::string::npos ? "" : query.substr(selected + selector.size());
  const std::size_t token = query.find("continue=");
  const std::size_t skip = token == std::string::npos ? 0 : std::stoul(query.substr(token + 9));
  std::size_t number = 0;
  std::string items;
  std::string next;
  for (const auto& [place, text] : objects_) {
    bool listed = place.starts_with(path + "/") && place.find('/', path.size() + 1) == std::string::npos;
    if (all_quotas) listed = Contains(place, "/resourcequotas/");
    // Up to the next parameter of the query.
    if (!name.empty()) listed = listed && place.ends_with("/" + name.substr(0, name.find('&')));
    if (!listed || number++ < skip) continue;
    if (page_items != 0 && number > skip + page_items) {
      next = std::to_string(skip + page_items);
      break;
    }
    items += (items.empty() ? "" : ",") + text;
  }
  return Ok(200, R"({"kind":")" + collection->list_kind() + R"(","apiVersion":")" + collection->resource.api_version() +
                     R"(","metadata":{"resourceVersion":"1","continue":")" + next + R"("},"items":[)" + items + "]}");
}

Response FakeApiServer::Create(const std::string& path, const std::string& body) {
  Document object = Parsed(body);
  const std::string name = StringAt(object, "/metadata/name");
  if (const std::size_t end = path.rfind("/resourcequotas"); end != std::string::npos) {
    const auto space = objects_.find(path.substr(0, end));
    if (space == objects_.end()) return NotFound(path.substr(0, end));
    if (!StringAt(Parsed(space->second), "/metadata/deletionTimestamp").empty()) {
      return StatusAnswer(403, "Forbidden", "is forbidden", R"({"causes":[{"reason":"NamespaceTerminating"}]})");
    }
    Pointer("/metadata/namespace").Set(object, StringAt(Parsed(space->second), "/metadata/name").c_str());
  } else {
    Pointer("/metadata/labels/kubernetes.io~1metadata.name").Set(object, name.c_str());
  }
  if (const auto found = objects_.find(path + "/" + name); found != objects_.end()) {
    const bool going = !StringAt(Parsed(found->second), "/metadata/deletionTimestamp").empty();
    return StatusAnswer(409, "AlreadyExists", (going ? "object is being deleted: " : "") + name + " already exists",
                        DetailsOf(path + "/" + name));
  }
  Pointer("/metadata/uid").Set(object, fmt::format("made-{}-{}", name, ++created_[path + "/" + name]).c_str());
  std::string kept = AsAdmitted(Text(object));
  Put(path + "/" + name, kept);
  return Ok(201, std::move(kept));
}

Response FakeApiServer::Patch(const std::string& path, const std::string& body) {
  const bool of_status = path.ends_with("/status");
  const std::string place = of_status ? path.substr(0, path.size() - 7) : path;
  const auto found = objects_.find(place);
  if (found == objects_.end()) return NotFound(place);
  Document patched = Parsed(found->second);
  const Document operations = Parsed(body);
  for (const rapidjson::Value& operation : operations.GetArray()) {
    if (!PerformOperation(patched, operation)) return FailedTestAnswer();
  }
  Document object = Parsed(found->second);
  const Document& kept = of_status ? patched : object;
  Document& result = of_status ? object : patched;
  // The main address drops what is said of the status, and the status's all the rest.
  if (const rapidjson::Value* status = Pointer("/status").Get(kept)) {
    Pointer("/status").Set(result, rapidjson::Value(*status, result.GetAllocator()));
  } else {
    Pointer("/status").Erase(result);
  }
  std::string stored = AsAdmitted(Text(result));
  const Document admitted = Parsed(stored);
  const rapidjson::Value* finalizers = Pointer("/metadata/finalizers").Get(admitted);
  const bool held = finalizers != nullptr && !finalizers->Empty();
  if (!held && !StringAt(admitted, "/metadata/deletionTimestamp").empty()) {
    objects_.erase(found);
  } else {
    found->second = stored;
  }
  return Ok(200, std::move(stored));
}

std::string FakeApiServer::AsAdmitted(const std::string& object) const {
  Document admitted = Parsed(object);
  for (const auto& [field, json] : policy) {
    const std::size_t kind = field.find('/');
    if (StringAt(admitted, "/kind") != field.substr(0, kind)) continue;
    const Pointer place(field.substr(kind).c_str());
    if (field.substr(kind).starts_with("/status/") && !admitted.HasMember("status")) continue;
    const Document value = Parsed(json);
    if (value.IsNull()) {
      place.Erase(admitted);
    } else {
      place.Set(admitted, rapidjson::Value(value, admitted.GetAllocator()));
    }
  }
  return Text(admitted);
}

Response FakeApiServer::Delete(const std::string& path, const std::string& body) {
  const auto found = objects_.find(path);
  if (found == objects_.end()) return NotFound(path);
  if (StringAt(Parsed(body), "/preconditions/uid") != StringAt(Parsed(found->second), "/metadata/uid")) {
    return StatusAnswer(409, "Conflict", "the UID in the precondition does not match", DetailsOf(path));
  }
  objects_.erase(found);
  return Ok(200, R"({"kind":"Status","apiVersion":"v1","status":"Success"})");
}

}  // namespace cnpa
