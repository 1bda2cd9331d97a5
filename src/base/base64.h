// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cnpa {

/// Decodes standard base64 with padding; line breaks and blanks, as YAML block scalars leave them, are skipped.
///
/// Errors:  kInvalid when `text` is not base64. The message never quotes the text: it may be a key.
/// Source:  RFC 4648, section 4.
Result<std::string> DecodeBase64(std::string_view text);

/// Encodes in standard base64 with padding, in one line.
std::string EncodeBase64(std::string_view bytes);

}  // namespace cnpa
