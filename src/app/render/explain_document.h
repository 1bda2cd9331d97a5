// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/stages/archive_search.h"
#include "core/teamspace/explanation.h"

namespace cnpa {

/// Returns `cnpa-op explain` as a JSON document for machines; docs/explain.schema.json describes it.
std::string ExplanationDocument(const Explanation& explanation, const ArchiveSearch& archives);

/// Returns the document where the cluster could not be read.
std::string FailedExplanationDocument(const std::string& name, const std::string& error);

}  // namespace cnpa
