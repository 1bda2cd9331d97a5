// SPDX-License-Identifier: Apache-2.0
//
// A plan for eyes: what --diff prints. On a terminal it is laid out to the terminal's width, and by team space where
// that tells more; elsewhere each change is one whole line, whatever its length, for grep and for a log.
#pragma once

#include <string>
#include <vector>

#include "app/output/layout.h"
#include "app/render/render.h"
#include "core/plan/change.h"
#include "core/teamspace/verdict.h"

namespace cnpa {

/// Returns `plan` as lines, the sum of it last; with `verdicts`, also what the server says to it.
std::vector<std::string> PlanLines(const Plan& plan, const Verdicts* verdicts, const Renderer& renderer,
                                   const ViewForm& form);

}  // namespace cnpa
