// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cnpa {

/// Returns the SHA-256 of `bytes` as 64 hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace cnpa
