// SPDX-License-Identifier: Apache-2.0
//
// Results, on stdout. Who reads them may go away at any time (`| head`): that is no fault of ours and no
// reason to crash.
#pragma once

#include <string_view>

#include "base/result.h"

namespace cnpa {

/// Writes `text` to stdout.
void Print(std::string_view text);

/// Writes a line to stdout.
void PrintLine(std::string_view text);

/// Sends what is still in the buffer.
///
/// Errors:  kInvalid when something could not be written, a full disk for instance; a reader who left is none.
Status FlushOutput();

}  // namespace cnpa
