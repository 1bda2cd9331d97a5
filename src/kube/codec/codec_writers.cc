// SPDX-License-Identifier: Apache-2.0
#include "kube/codec/codec_writers.h"

#include <string>
#include <utility>

#include "core/objects/objects.h"

namespace cnpa {
namespace {

Writer DecodeWriter(const JsonReader& entry) {
  Writer writer{entry.OptionalString("manager"), entry.OptionalString("operation"), entry.OptionalString("subresource"),
                std::nullopt};
  if (const Result<Time> time = ParseTime(entry.OptionalString("time"))) writer.time = *time;
  return writer;
}

/// Two that applied the same value own a field together: the later one counts.
void Note(FieldWriters& writers, std::string path, const Writer& writer) {
  Writer& noted = writers.try_emplace(std::move(path), writer).first->second;
  if (noted.time < writer.time) noted = writer;
}

void DecodeFinalizerWriter(const JsonReader& fields, const Writer& writer, FieldWriters& writers) {
  const std::string ours = "v:\"" + std::string(kFinalizer) + "\"";
  const JsonReader metadata = fields.Object("f:metadata");
  if (metadata.Object("f:finalizers").Has(ours)) Note(writers, std::string(kFinalizersPath), writer);
}

}  // namespace

void DecodeMetadataWriters(const JsonReader& fields, const Writer& writer, FieldWriters& writers) {
  static const std::string kLabelField = "f:" + std::string(kTeamSpaceLabel);
  constexpr std::string_view kBefore = R"(k:{"uid":")";
  constexpr std::string_view kBehind = R"("})";
  const JsonReader metadata = fields.Object("f:metadata");
  if (metadata.Object("f:labels").Has(kLabelField)) Note(writers, LabelPath(), writer);
  metadata.Object("f:ownerReferences").EachKey([&](std::string_view field) {
    if (!field.starts_with(kBefore) || !field.ends_with(kBehind)) return;
    field = field.substr(kBefore.size());
    Note(writers, OwnerPath(field.substr(0, field.size() - kBehind.size())), writer);
  });
}

void DecodeHardWriters(const JsonReader& fields, const Writer& writer, FieldWriters& writers) {
  const JsonReader spec = fields.Object("f:spec");
  spec.Object("f:hard").EachKey([&](std::string_view field) {
    if (field.starts_with("f:")) Note(writers, std::string(kHardPath).append(field.substr(2)), writer);
  });
  if (spec.Has("f:scopes") || spec.Has("f:scopeSelector")) Note(writers, std::string(kScopesPath), writer);
}

void DecodeStatusWriters(const JsonReader& fields, const Writer& writer, FieldWriters& writers) {
  const JsonReader status = fields.Object("f:status");
  if (status.Has("f:observedGeneration")) Note(writers, std::string(kObservedGenerationPath), writer);
  if (status.Has("f:namespace")) Note(writers, std::string(kStatusNamespacePath), writer);
  if (status.Has("f:namespaceUID")) Note(writers, std::string(kStatusNamespaceUidPath), writer);
  const JsonReader conditions = status.Object("f:conditions");
  conditions.Object(R"(k:{"type":"Ready"})").EachKey([&](std::string_view field) {
    if (field.starts_with("f:")) Note(writers, ReadyMemberPath(field.substr(2)), writer);
  });
}

std::vector<WriteEntry> DecodeWrites(const JsonReader& metadata, DecodeFields decode, FieldWriters& writers) {
  const std::vector<JsonReader> entries = metadata.Objects("managedFields");
  std::vector<WriteEntry> writes;
  writes.reserve(entries.size());
  for (const JsonReader& entry : entries) {
    const JsonReader fields = entry.Object("fieldsV1");
    const bool of_metadata = fields.Has("f:metadata");
    // What controllers write of namespaces and quotas all the time is nothing of ours.
    if (!of_metadata && decode != &DecodeStatusWriters && entry.OptionalString("subresource") == "status") continue;
    const WriteEntry& write =
        writes.emplace_back(WriteEntry{.writer = DecodeWriter(entry), .of_metadata = of_metadata});
    if (!IsOurs(write.writer)) decode(fields, write.writer, writers);
  }
  return writes;
}

FieldWriters DecodeAllWriters(const JsonReader& metadata) {
  FieldWriters writers;
  for (const JsonReader& entry : metadata.Objects("managedFields")) {
    const Writer writer = DecodeWriter(entry);
    const JsonReader fields = entry.Object("fieldsV1");
    for (const DecodeFields decode :
         {&DecodeFinalizerWriter, &DecodeMetadataWriters, &DecodeHardWriters, &DecodeStatusWriters}) {
      decode(fields, writer, writers);
    }
  }
  return writers;
}

}  // namespace cnpa
