// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/exit_code.h"
#include "app/cli/options.h"
#include "app/output/log.h"

namespace cnpa {

/// `cnpa-op get [NAME...]`: prints the team spaces, all or those that are named. Writes nothing.
ExitCode RunGet(const Options& options, const Log& log);

}  // namespace cnpa
