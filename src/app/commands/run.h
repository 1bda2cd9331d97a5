// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "app/cli/exit_code.h"
#include "app/cli/options.h"
#include "base/result.h"

namespace cnpa {

/// Reads the command line and the configuration anew.
using Reload = std::function<Result<Options>()>;

/// Does what the command line asks for. The loop calls `reload` when it is told to.
ExitCode Run(const Options& options, const Reload& reload);

}  // namespace cnpa
