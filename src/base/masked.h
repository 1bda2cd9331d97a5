// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cnpa {

/// Returns `text` with '#' for each number, time, uuid, hexadecimal or otherwise numbered word in it, and for several
/// of them joined: what stays the same when a server says the same again, with another port, request or duration.
std::string Masked(std::string_view text);

}  // namespace cnpa
