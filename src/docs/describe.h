// SPDX-License-Identifier: Apache-2.0
//
// What the man pages, the completions and the configuration file that a package brings need to know of commands and
// flags. All of it is read off the two tables that the command line itself is made of, so none of it can be out of
// step with --help.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/help.h"

namespace cnpa {

/// Returns the names of the commands that take `flag`, in the order of help.
std::vector<std::string> CommandsWith(const Flag& flag);

/// Returns the flags that are keys of the configuration file.
std::vector<Flag> Keys();

/// Returns what a value in the configuration file is: "duration", "path of a file". Which words there are says its
/// help.
std::string TypeOf(const Flag& flag);

/// Returns a value that the flag takes: its default, or, where that depends on the machine, one that may be meant.
std::string ExampleOf(const Flag& flag);

}  // namespace cnpa
