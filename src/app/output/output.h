// SPDX-License-Identifier: Apache-2.0
//
// Results, on stdout. Who reads them may go away at any time (`| head`): that is no fault of ours and no
// reason to crash.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "app/output/layout.h"
#include "base/result.h"

namespace cnpa {

/// When to colour, as the user wants it.
enum class ColorMode { kAuto, kAlways, kNever };

/// Returns whether to colour what goes to `fd`; kAuto does so for a terminal that can, unless $NO_COLOR is set.
bool WantsColor(ColorMode mode, int fd);

/// Returns how many columns the terminal has that `fd` is; nothing: it is none, or does not say.
std::optional<std::size_t> TerminalColumns(int fd);

/// Returns both for what goes to `fd`.
ViewForm FormOf(ColorMode mode, int fd);

/// Writes `text` to stdout.
void Print(std::string_view text);

/// Writes a line to stdout.
void PrintLine(std::string_view text);

/// Sends what is still in the buffer.
///
/// Errors:  kInvalid when something could not be written, a full disk for instance; a reader who left is none.
Status FlushOutput();

}  // namespace cnpa
