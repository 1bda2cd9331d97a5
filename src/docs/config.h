// SPDX-License-Identifier: Apache-2.0
//
// The configuration file that a package brings: every key, commented out.
#pragma once

#include <string>
#include <string_view>

namespace cnpa {

/// Returns a line for each key, "timeout: 60s", each after `before`.
std::string ConfigLines(std::string_view before);

/// Returns the whole file: every key with its meaning and its type, all of it comments.
std::string ConfigFile();

}  // namespace cnpa
