// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

namespace cnpa {

/// Returns whether the server takes no credentials of ours; a kDenied that is not so is a right that lacks.
inline bool IsUnauthorized(const Error& error) {
  return error.code == ErrorCode::kDenied && error.message.starts_with("unauthorized");
}

}  // namespace cnpa
