// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cnpa {

/// Returns `text` as a shell takes it for one word.
std::string ShellWord(const std::string& text);

}  // namespace cnpa
