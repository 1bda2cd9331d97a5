// SPDX-License-Identifier: Apache-2.0
//
// The clock on the wall, apart from time.h: what computes with times must not ask for the present one.
#pragma once

#include "base/time.h"

namespace cnpa {

/// Returns what the system's clock shows, in whole seconds.
Time Now();

}  // namespace cnpa
