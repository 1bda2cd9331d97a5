// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/archive_search.h"
#include "core/explanation.h"

namespace cnpa {

/// Returns `cnpa-op explain` as a JSON document for machines; docs/explain.schema.json describes it.
std::string ExplanationDocument(const Explanation& explanation, const ArchiveSearch& archives);

}  // namespace cnpa
