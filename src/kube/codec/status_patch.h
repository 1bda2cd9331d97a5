// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/objects/objects.h"
#include "kube/json/json_patch.h"

namespace cnpa {

/// Adds the operations that turn the status of a TeamSpace into `desired`, if it is still `observed`.
void PatchStatus(JsonPatch& patch, const TeamSpaceStatus& observed, const TeamSpaceStatus& desired);

}  // namespace cnpa
