// SPDX-License-Identifier: Apache-2.0
#include "kube/codec/codec_sight.h"

#include <string_view>
#include <utility>

#include "kube/codec/codec.h"
#include "kube/codec/codec_writers.h"

namespace cnpa {
namespace {

constexpr std::string_view kOfEveryNamespace =
    "kubernetes";                                        // Its finalizer, which the namespace controller takes off.
constexpr std::string_view kOfNamespaces = "Namespace";  // So begin the types of conditions of a deletion.

std::vector<std::string> DecodeFinalizers(const JsonReader& root, const JsonReader& metadata) {
  std::vector<std::string> finalizers = metadata.Strings("finalizers");
  const JsonReader spec = root.Object("spec");
  for (std::string& finalizer : spec.Strings("finalizers")) {
    if (finalizer != kOfEveryNamespace) finalizers.push_back(std::move(finalizer));
  }
  return finalizers;
}

std::vector<Condition> DecodeDeletionConditions(const JsonReader& root) {
  std::vector<Condition> conditions;
  const JsonReader status = root.Object("status");
  for (const JsonReader& condition : status.Objects("conditions")) {
    std::string type = condition.OptionalString("type");
    if (!type.starts_with(kOfNamespaces) || condition.OptionalString("status") != "True") continue;
    conditions.push_back({.type = std::move(type),
                          .status = "True",
                          .observed_generation = {},
                          .last_transition_time = condition.OptionalString("lastTransitionTime"),
                          .reason = condition.OptionalString("reason"),
                          .message = condition.OptionalString("message")});
  }
  return conditions;
}

}  // namespace

ObjectSight DecodeSight(JsonDocument& document) {
  const JsonReader root = document.root();
  const JsonReader metadata = root.Object("metadata");
  return {.created = metadata.OptionalString("creationTimestamp"),
          .deleted = metadata.OptionalString("deletionTimestamp"),
          .finalizers = DecodeFinalizers(root, metadata),
          .writers = DecodeAllWriters(metadata),
          .conditions = DecodeDeletionConditions(root),
          .used = DecodeUsed(document)};
}

Result<WriteArchive> DecodeArchive(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  WriteArchive record{.name = root.String("name"),
                      .uid = root.String("uid"),
                      .pods = root.IntIfPresent("pods"),
                      .cpu = root.OptionalString("cpu"),
                      .generation = root.IntIfPresent("generation").value_or(0),
                      .deleted_at = root.OptionalString("deletedAt"),
                      .archived_at = root.OptionalString("archivedAt")};
  bool has_pods = false;  // It is null where they could not be read.
  root.EachKey([&has_pods](std::string_view key) { has_pods = has_pods || key == "pods"; });
  if (!has_pods) root.Fail("pods", "is missing");
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return record;
}

}  // namespace cnpa
