// SPDX-License-Identifier: Apache-2.0
//
// What users of kubectl, terraform and others type out of habit, and what does that here.
#pragma once

#include <string_view>

#include "app/cli/options.h"

namespace cnpa {

/// Returns what does here what `word` does elsewhere; "" when there is no such thing. `word` stands where a command
/// should, or, unless `command` is kNone, is a flag that this has not.
std::string_view HabitFor(std::string_view word, Command command);

}  // namespace cnpa
