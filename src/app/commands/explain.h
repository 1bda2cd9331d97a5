// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/exit_code.h"
#include "app/cli/options.h"
#include "app/output/log.h"

namespace cnpa {

/// `cnpa-op explain NAME`: prints one team space with all of its objects, and what a pass makes of it. Writes nothing.
///
/// Requires: `options.names` has one.
ExitCode RunExplain(const Options& options, const Log& log);

}  // namespace cnpa
