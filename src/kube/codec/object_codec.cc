// SPDX-License-Identifier: Apache-2.0
#include "kube/codec/object_codec.h"

#include <utility>

#include "kube/json/json.h"
#include "kube/json/json_patch.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

constexpr std::string_view kWriteQuery = "?fieldManager=cnpa-op&fieldValidation=Strict";

/// Writes a value where a value without a key may stand.
struct ValueWriter {
  void operator()(std::monostate /*null*/) const { json.Null(); }
  void operator()(bool value) const { json.Bool(value); }
  void operator()(std::int64_t value) const { json.Int(value); }
  void operator()(double value) const { json.Double(value); }
  void operator()(const std::string& value) const { json.String(value); }

  void operator()(const Value::List& list) const {
    json.Array([&] {
      for (const Value& element : list) std::visit(*this, element.data);
    });
  }

  void operator()(const Value::Map& map) const {
    json.Object([&] {
      for (const auto& [key, value] : map) {
        json.Key(key);
        std::visit(*this, value.data);
      }
    });
  }

  JsonWriter& json;
};

void WriteValue(JsonWriter& json, const Value& value) {
  std::visit(ValueWriter{json}, value.data);
}

void WriteLabels(JsonWriter& json, const Labels& labels) {
  json.Object([&] {
    for (const auto& [key, value] : labels) json.String(key, value);
  });
}

/// Escapes a key for a JSON Pointer.
///
/// Source:  RFC 6901, section 3.
std::string Escaped(std::string_view key) {
  std::string escaped;
  for (const char c : key) escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return escaped;
}

Labels DecodeLabels(const JsonReader& metadata) {
  Labels labels;
  metadata.EachString("labels",
                      [&labels](std::string_view key, std::string_view value) { labels.emplace(key, value); });
  return labels;
}

/// Notes who set each member of `spec`, the last one of several.
FieldWriters DecodeSpecWriters(const JsonReader& metadata) {
  FieldWriters writers;
  for (const JsonReader& entry : metadata.Objects("managedFields")) {
    Writer writer{.manager = entry.OptionalString("manager"),
                  .operation = entry.OptionalString("operation"),
                  .subresource = entry.OptionalString("subresource"),
                  .time = {}};
    if (const Result<Time> time = ParseTime(entry.OptionalString("time"))) writer.time = *time;
    if (IsOurs(writer)) continue;
    entry.Object("fieldsV1").Object("f:spec").EachKey([&](std::string_view key) {
      if (!key.starts_with("f:")) return;
      Writer& known = writers[MemberPath("spec", key.substr(2))];
      if (known.manager.empty() || known.time < writer.time) known = writer;
    });
  }
  return writers;
}

Status CheckKind(const Resource& resource, const JsonReader& root) {
  if (root.String("kind") == resource.kind && root.String("apiVersion") == resource.api_version()) return {};
  return Fail(ErrorCode::kMalformed, "is no " + std::string(resource.kind) + " of " + resource.api_version());
}

}  // namespace

std::string ObjectPath(const Resource& resource, std::string_view name) {
  return resource.path() + "/" + std::string(name);
}

Result<ObservedObject> DecodeObject(const Resource& resource, std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(parsed.error());
  const JsonReader root = document.root();
  if (Status kind = CheckKind(resource, root); !kind) return tl::unexpected<Error>(kind.error());
  const JsonReader metadata = root.Object("metadata");
  ObservedObject object{.resource = resource,
                        .name = metadata.String("name"),
                        .uid = metadata.String("uid"),
                        .resource_version = metadata.OptionalString("resourceVersion"),
                        .labels = DecodeLabels(metadata),
                        .spec = root.Tree("spec"),
                        .deleting = metadata.Has("deletionTimestamp"),
                        .writers = DecodeSpecWriters(metadata)};
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return object;
}

Result<DeclaredObject> DecodeManifest(const Resource& resource, std::string json) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, json); !parsed) return tl::unexpected<Error>(parsed.error());
  const JsonReader root = document.root();
  if (Status kind = CheckKind(resource, root); !kind) return tl::unexpected<Error>(kind.error());
  const JsonReader metadata = root.Object("metadata");
  DeclaredObject object{.resource = resource,
                        .name = metadata.String("name"),
                        .labels = DecodeLabels(metadata),
                        .spec = root.Tree("spec")};
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return object;
}

Request EncodeOperation(const CreateObject& operation) {
  const DeclaredObject& object = *operation.object;
  JsonWriter json;
  json.Object([&] {
    json.String("apiVersion", object.resource.api_version());
    json.String("kind", object.resource.kind);
    json.Object("metadata", [&] {
      json.String("name", object.name);
      json.Key("labels");
      WriteLabels(json, object.labels);
    });
    json.Key("spec");
    WriteValue(json, object.spec);
  });
  return {.method = Method::kPost,
          .path = object.resource.path() + std::string(kWriteQuery),
          .content_type = "application/json",
          .body = json.text()};
}

Request EncodeOperation(const PatchObject& operation) {
  const DeclaredObject& object = *operation.object;
  const auto labels = [&object](JsonWriter& w) { WriteLabels(w, object.labels); };
  return {.method = Method::kPatch,
          .path = ObjectPath(object.resource, object.name) + std::string(kWriteQuery),
          .content_type = "application/json-patch+json",
          .body = PatchText(operation.uid, [&](JsonPatch& patch) {
            patch.Test("/metadata/resourceVersion", operation.resource_version);
            if (operation.without_labels) patch.Add("/metadata/labels", labels);
            if (!operation.without_labels) {
              for (const auto& [key, value] : object.labels) patch.Add("/metadata/labels/" + Escaped(key), value);
            }
            patch.Replace("/spec", [&object](JsonWriter& w) { WriteValue(w, object.spec); });
          })};
}

Request EncodeOperation(const DeleteObject& operation) {
  JsonWriter json;
  json.Object([&] {
    json.String("kind", "DeleteOptions");
    json.String("apiVersion", "v1");
    json.Object("preconditions", [&] { json.String("uid", operation.uid); });
  });
  return {.method = Method::kDelete,
          .path = ObjectPath(operation.resource, operation.name),
          .content_type = "application/json",
          .body = json.text()};
}

}  // namespace cnpa
