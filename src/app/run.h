// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/exit_code.h"
#include "app/options.h"

namespace cnpa {

/// Does what the command line asks for.
ExitCode Run(const Options& options);

}  // namespace cnpa
