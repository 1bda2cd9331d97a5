// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/exit_code.h"
#include "app/log.h"
#include "app/options.h"

namespace cnpa {

/// `cnpa-op get [NAME...]`: prints the team spaces, all or those that are named. Writes nothing.
ExitCode RunGet(const Options& options, const Log& log);

}  // namespace cnpa
