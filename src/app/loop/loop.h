// SPDX-License-Identifier: Apache-2.0
//
// `cnpa-op reconcile`: passes for ever.
#pragma once

#include <functional>

#include "app/cli/exit_code.h"
#include "app/cli/options.h"
#include "base/result.h"

namespace cnpa {

/// Makes pass after pass as `options` say, until a signal ends it; `reload` is how to read the options anew.
ExitCode RunLoop(Options options, const std::function<Result<Options>()>& reload);

}  // namespace cnpa
