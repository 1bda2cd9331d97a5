// SPDX-License-Identifier: Apache-2.0
//
// Percent-encoding, as in URLs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cnpa {

/// Percent-encodes all but ASCII letters, digits and the characters in `plain_marks`.
///
/// Source:  RFC 3986, section 2.1.
std::string PercentEncode(std::string_view text, std::string_view plain_marks);

/// Decodes "%41" and the like; nothing when a '%' is not followed by two hexadecimal digits.
std::optional<std::string> PercentDecode(std::string_view text);

}  // namespace cnpa
