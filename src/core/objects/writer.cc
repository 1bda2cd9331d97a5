// SPDX-License-Identifier: Apache-2.0
#include "core/objects/writer.h"

#include <algorithm>

namespace cnpa {
namespace {

constexpr std::string_view kStatusSubresource = "status";

bool Reaches(const WriteEntry& entry, ObjectPart part) {
  const std::string& subresource = entry.writer.subresource;
  switch (part) {
    case ObjectPart::kMetadata: return subresource.empty() || entry.of_metadata;
    case ObjectPart::kSpec: return subresource.empty();
    case ObjectPart::kStatus: return subresource == kStatusSubresource;
  }
  return false;
}

/// Returns when we last wrote the object. Of the status only what was written there counts: our other writes tell
/// nothing of what it held.
std::optional<Time> LastOfOurs(const std::vector<WriteEntry>& entries, ObjectPart part) {
  std::optional<Time> last;
  for (const WriteEntry& entry : entries) {
    if (!IsOurs(entry.writer) || (part == ObjectPart::kStatus && !Reaches(entry, part))) continue;
    if (entry.writer.time && (!last || *entry.writer.time > *last)) last = entry.writer.time;
  }
  return last;
}

}  // namespace

bool IsOurs(const Writer& writer) {
  return writer.manager == kFieldManager && writer.operation == "Update";
}

WriteTrace ComputeTrace(const std::vector<WriteEntry>& entries, ObjectPart part, std::optional<Time> made) {
  WriteTrace trace{.ours = LastOfOurs(entries, part), .later = {}};
  for (const WriteEntry& entry : entries) {
    const Writer& writer = entry.writer;
    if (IsOurs(writer) || !writer.time || !Reaches(entry, part)) continue;
    const bool before =
        trace.ours && (*writer.time < *trace.ours || (writer.time == trace.ours && writer.time == made));
    if (!before) trace.later.push_back(writer);
  }
  std::stable_sort(trace.later.begin(), trace.later.end(),
                   [](const Writer& left, const Writer& right) { return *left.time > *right.time; });
  if (trace.later.size() > kMostLater) trace.later.resize(kMostLater);
  return trace;
}

std::optional<Absence> ComputeAbsence(const WriteTrace& trace, bool had) {
  const bool removed = had && trace.ours;
  if (!removed && trace.later.empty()) return std::nullopt;
  return Absence{removed, trace};
}

std::optional<Writer> WriterOf(const FieldWriters& writers, const std::string& path) {
  const auto found = writers.find(path);
  return found == writers.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace cnpa
