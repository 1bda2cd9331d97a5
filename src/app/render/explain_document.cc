// SPDX-License-Identifier: Apache-2.0
#include "app/render/explain_document.h"

#include "app/render/provenance.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

/// A reader of one version understands each later document of the same number.
constexpr int kDocumentVersion = 1;

void WriteValue(JsonWriter& json, std::string_view key, const std::optional<std::string>& value) {
  json.Key(key);
  value ? json.String(*value) : json.Null();
}

void WriteField(JsonWriter& json, const FieldFinding& field) {
  json.String("path", field.path);
  WriteValue(json, "found", field.found);
  WriteValue(json, "wanted", field.wanted);
  json.Bool("differs", field.differs);
  if (!field.used.empty()) json.String("used", field.used);
  WriteProvenance(json, {.path = field.path, .writer = field.writer, .absence = field.absence});
}

void WriteObject(JsonWriter& json, const ObjectFinding& object) {
  json.String("kind", object.kind);
  if (!object.namespace_name.empty()) json.String("namespace", object.namespace_name);
  json.String("name", object.name);
  json.String("presence", PresenceName(object.presence));
  json.StringOrNull("uid", object.uid);
  json.StringOrNull("createdAt", object.created);
  json.StringOrNull("deletedAt", object.deleted);
  json.Array("fields", [&] {
    for (const FieldFinding& field : object.fields) {
      json.Object([&] { WriteField(json, field); });
    }
  });
}

void WriteHold(JsonWriter& json, const Hold& hold) {
  json.String("kind", hold.kind);
  json.String("name", hold.name);
  json.String("cause", hold.cause);
  json.StringOrNull("message", hold.message);
}

void WriteArchives(JsonWriter& json, const ArchiveSearch& archives) {
  json.StringOrNull("folder", archives.folder);
  json.StringOrNull("problem", archives.problem);
  json.Array("files", [&] {
    for (const ArchiveFile& file : archives.files) {
      json.Object([&] {
        json.String("file", file.file);
        json.StringOrNull("uid", file.record.uid);
        json.StringOrNull("deletedAt", file.record.deleted_at);
        json.StringOrNull("archivedAt", file.record.archived_at);
        json.StringOrNull("problem", file.problem);
      });
    }
  });
}

void WriteReason(JsonWriter& json, const Explanation& explanation) {
  const bool refused = explanation.chain && explanation.chain->refusal;
  const std::optional<Condition>& told = explanation.told;
  json.StringOrNull("reason", refused ? ReasonName(explanation.chain->refusal->reason) : std::string_view());
  json.StringOrNull("message", refused ? std::string_view(explanation.chain->refusal->message) : std::string_view());
  json.Int("changes", explanation.chain ? static_cast<std::int64_t>(explanation.chain->changes.size()) : 0);
  json.StringOrNull("lastReason", told ? std::string_view(told->reason) : std::string_view());
  json.StringOrNull("lastMessage", told ? std::string_view(told->message) : std::string_view());
}

}  // namespace

std::string ExplanationDocument(const Explanation& explanation, const ArchiveSearch& archives) {
  JsonWriter json(JsonWriter::Layout::kIndented);
  json.Object([&] {
    json.Int("version", kDocumentVersion);
    json.String("kind", "Explanation");
    json.String("teamSpace", explanation.name);
    json.String("observedAt", FormatTime(explanation.observed_at));
    json.String("standing", StandingName(explanation.standing));
    WriteReason(json, explanation);
    json.Array("objects", [&] {
      for (const ObjectFinding& object : explanation.objects) {
        json.Object([&] { WriteObject(json, object); });
      }
    });
    json.Array("holds", [&] {
      for (const Hold& hold : explanation.holds) {
        json.Object([&] { WriteHold(json, hold); });
      }
    });
    json.Object("archives", [&] { WriteArchives(json, archives); });
  });
  return json.text();
}

std::string FailedExplanationDocument(const std::string& name, const std::string& error) {
  JsonWriter json(JsonWriter::Layout::kIndented);
  json.Object([&] {
    json.Int("version", kDocumentVersion);
    json.String("kind", "Explanation");
    json.String("teamSpace", name);
    json.String("error", error);
  });
  return json.text();
}

}  // namespace cnpa
