// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "app/check/check.h"
#include "app/check/survey.h"
#include "app/cli/exit_code.h"

namespace cnpa {

/// Returns what `survey` amounts to, in the order in which one thing stands on another.
std::vector<Check> ComputeChecks(const Survey& survey);

/// Returns kUsage when the kubeconfig can't be used, kUnreadable when the server can't be reached or refuses us,
/// kUnconverged when anything else fails.
ExitCode ComputeCheckCode(const std::vector<Check>& checks);

}  // namespace cnpa
