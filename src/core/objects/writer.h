// SPDX-License-Identifier: Apache-2.0
//
// Who wrote an object, as far as the API server keeps it: an entry for each manager, operation and subresource, with
// the fields that it set last and one time. What a field was set by is known so; what was removed leaves nothing, and
// all that can be told is who else wrote there after us.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace cnpa {

inline constexpr std::string_view kFieldManager = "cnpa-op";

/// Who last set a field: a tool's name, never a person's.
///
/// Source:  metadata.managedFields.
struct Writer {
  std::string manager;
  std::string operation;     ///< "Update" or "Apply".
  std::string subresource;   ///< Empty for the object itself.
  std::optional<Time> time;  ///< When it last set any of the fields that it owns; a removal moves no time.

  bool operator==(const Writer&) const = default;
};

/// By the path of a field, as FieldChange has it: who set it, when it was not cnpa-op.
using FieldWriters = std::map<std::string, Writer>;

/// An entry of managedFields without its fields.
struct WriteEntry {
  Writer writer;
  bool of_metadata = false;  ///< There are fields of `metadata` among them.

  bool operator==(const WriteEntry&) const = default;
};

/// What of an object a write reaches. One of the status reaches no spec, but of namespaces and quotas the metadata.
enum class ObjectPart { kMetadata, kSpec, kStatus };

/// The writes to a part of an object that may have come after ours.
struct WriteTrace {
  std::optional<Time> ours;   ///< Of the last write of ours that the server keeps; nothing: it keeps none.
  std::vector<Writer> later;  ///< Those not before it, in the same second perhaps; latest first, kMostLater at most.

  bool operator==(const WriteTrace&) const = default;
};

inline constexpr std::size_t kMostLater = 3;

/// Returns whether a write is one of a pass: those are updates, and an apply under our name is somebody else's.
bool IsOurs(const Writer& writer);

/// Returns what `entries` tell of `part`. Without a write of ours all others are `later`. `made` is when somebody else
/// made the object, where that is sure: who wrote it in that second and not since did so before us.
WriteTrace ComputeTrace(const std::vector<WriteEntry>& entries, ObjectPart part, std::optional<Time> made = {});

/// What can be told of a field that should be there and is not.
struct Absence {
  bool removed = false;  ///< We had it there. Else it may never have been.
  WriteTrace trace;

  bool operator==(const Absence&) const = default;
};

/// Returns what can be told, or nothing where that would be nothing. `had` says that cnpa-op has had the field there,
/// if the server keeps a write of ours.
std::optional<Absence> ComputeAbsence(const WriteTrace& trace, bool had);

/// Returns who set the field at `path`, or nothing when it was cnpa-op or nobody knows.
std::optional<Writer> WriterOf(const FieldWriters& writers, const std::string& path);

}  // namespace cnpa
