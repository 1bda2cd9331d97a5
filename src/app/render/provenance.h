// SPDX-License-Identifier: Apache-2.0
//
// Who wrote a field that differs, for people and for machines: no more than the API server keeps.
#pragma once

#include <string>

#include "core/plan/change.h"
#include "kube/json/json_writer.h"

namespace cnpa {

/// Returns "was changed by kubectl-patch, 3s ago"; of a field that is not there "was removed, the server does not say
/// by whom; after us kubectl-edit (4s ago) wrote this object"; "" where nothing is known. `now` is what ages are
/// counted from.
std::string ProvenanceWords(const FieldChange& field, Time now);

/// Writes the same as members: `lastWriter`, or `removed`, `ourLastWrite` and `writersSince`.
void WriteProvenance(JsonWriter& json, const FieldChange& field);

}  // namespace cnpa
