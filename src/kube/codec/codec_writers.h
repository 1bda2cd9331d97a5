// SPDX-License-Identifier: Apache-2.0
//
// metadata.managedFields: who wrote which of the fields that we own.
#pragma once

#include <vector>

#include "core/objects/writer.h"
#include "kube/json/json.h"

namespace cnpa {

/// Takes from `fields`, the fieldsV1 of an entry, those of one part of an object, and notes `writer` for each.
using DecodeFields = void (*)(const JsonReader& fields, const Writer& writer, FieldWriters& writers);

void DecodeMetadataWriters(const JsonReader& fields, const Writer& writer, FieldWriters& writers);  ///< Label, owners.
void DecodeHardWriters(const JsonReader& fields, const Writer& writer, FieldWriters& writers);
void DecodeStatusWriters(const JsonReader& fields, const Writer& writer, FieldWriters& writers);

/// Returns all entries, with `decode` called for those that are not ours.
std::vector<WriteEntry> DecodeWrites(const JsonReader& metadata, DecodeFields decode, FieldWriters& writers);

/// Returns who set each field that we own, of any of our objects, ourselves among them.
FieldWriters DecodeAllWriters(const JsonReader& metadata);

}  // namespace cnpa
