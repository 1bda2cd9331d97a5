// SPDX-License-Identifier: Apache-2.0
//
// Completions for the shells, made of the tables of commands and flags. Each stands alone: none needs cnpa-op or
// bash-completion to be there.
#pragma once

#include <string>

namespace cnpa {

std::string BashCompletion();
std::string ZshCompletion();
std::string FishCompletion();

}  // namespace cnpa
