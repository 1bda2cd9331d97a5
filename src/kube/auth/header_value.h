// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/auth/connection.h"

namespace cnpa {

inline constexpr std::string_view kNoHeaderValue = "has a line break or another control character in it";

/// Returns whether `text` can be the value of a header: has no control character in it but tabs.
///
/// Source:  RFC 9110, field-value; golang.org/x/net/http/httpguts, ValidHeaderFieldValue.
bool IsHeaderValue(std::string_view text);

/// Checks all of a connection that is sent in headers, wherever it came from.
///
/// Errors:  kInvalid, naming the kubeconfig's field. The value is never quoted.
Status CheckHeaderValues(const Connection& connection);

}  // namespace cnpa
