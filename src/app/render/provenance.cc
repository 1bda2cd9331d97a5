// SPDX-License-Identifier: Apache-2.0
#include "app/render/provenance.h"

#include <algorithm>

#include <fmt/core.h>

namespace cnpa {
namespace {

std::string Ago(Time then, Time now) {
  // Two clocks are compared here, and the server's may be ahead.
  return FormatAge(std::max(now - then, std::chrono::seconds(0))) + " ago";
}

std::string Name(const Writer& writer) {
  return writer.manager.empty() ? "an unnamed manager" : writer.manager;
}

/// How it wrote, where that tells something: a status is written through its subresource by all.
std::string Manner(const Writer& writer, bool of_status) {
  std::string manner = writer.operation == "Apply" ? "server-side apply" : "";
  if (writer.subresource.empty() || (of_status && writer.subresource == "status")) return manner;
  return manner + (manner.empty() ? "through " : ", through ") + writer.subresource;
}

/// Each with its age: "kubectl-edit (4s ago), helm (2m ago) and kubectl (server-side apply, 3m ago)".
std::string LaterWriters(const WriteTrace& trace, bool of_status, Time now) {
  std::string text;
  for (std::size_t i = 0; i < trace.later.size(); ++i) {
    const Writer& writer = trace.later[i];
    if (i > 0) text += i + 1 == trace.later.size() ? " and " : ", ";
    // The server keeps whole seconds.
    const char* doubt = trace.ours && writer.time == trace.ours ? ", perhaps before us" : "";
    const std::string manner = Manner(writer, of_status);
    text +=
        fmt::format("{} ({}{}{}{})", Name(writer), manner, manner.empty() ? "" : ", ", Ago(*writer.time, now), doubt);
  }
  return text;
}

std::string AbsenceWords(const Absence& absence, bool of_status, Time now) {
  const WriteTrace& trace = absence.trace;
  const char* place = of_status ? "status" : "object";
  std::string words = absence.removed ? "was removed, the server does not say by whom" : "is missing";
  if (trace.later.empty()) return words;
  const std::string later = LaterWriters(trace, of_status, now);
  if (trace.ours) return fmt::format("{}; after us {} wrote this {}", words, later, place);
  return fmt::format("{}; no write of ours is left on this {}, {} wrote it", words, place, later);
}

void WriteTime(JsonWriter& json, std::string_view key, const std::optional<Time>& time) {
  json.StringOrNull(key, time ? FormatTime(*time) : std::string());
}

void WriteWriter(JsonWriter& json, const Writer& writer) {
  json.String("manager", writer.manager);
  json.String("operation", writer.operation);
  json.String("subresource", writer.subresource);
  WriteTime(json, "time", writer.time);
}

}  // namespace

std::string ProvenanceWords(const FieldChange& field, Time now) {
  const bool of_status = field.path.starts_with("status.");
  if (field.absence) return AbsenceWords(*field.absence, of_status, now);
  if (!field.writer) return {};
  const Writer& writer = *field.writer;
  const std::string manner = Manner(writer, of_status);
  std::string words = field.path == kScopesPath ? "were set by " : "was changed by ";
  words += Name(writer) + (manner.empty() ? "" : " (" + manner + ")");
  return writer.time ? words + ", " + Ago(*writer.time, now) : words;
}

void WriteProvenance(JsonWriter& json, const FieldChange& field) {
  if (field.writer) json.Object("lastWriter", [&] { WriteWriter(json, *field.writer); });
  if (!field.absence) return;
  const Absence& absence = *field.absence;
  json.Bool("removed", absence.removed);
  WriteTime(json, "ourLastWrite", absence.trace.ours);
  json.Array("writersSince", [&] {
    for (const Writer& writer : absence.trace.later) {
      json.Object([&] { WriteWriter(json, writer); });
    }
  });
}

}  // namespace cnpa
