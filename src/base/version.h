// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cnpa {

/// The version of cnpa-op, from CMakeLists.txt.
inline constexpr const char* kVersion = CNPA_OP_VERSION;

}  // namespace cnpa
