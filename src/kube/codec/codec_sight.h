// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "core/plan/change.h"
#include "core/teamspace/explanation.h"
#include "kube/json/json.h"

namespace cnpa {

/// Returns what people want to see of the object that was just decoded in `document`, whichever of ours it is.
ObjectSight DecodeSight(JsonDocument& document);

/// Returns what stands in an archive file.
///
/// Errors:  kMalformed when it is no archive: one has at least name, uid and pods, be they null.
Result<WriteArchive> DecodeArchive(std::string text);

}  // namespace cnpa
