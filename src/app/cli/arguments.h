// SPDX-License-Identifier: Apache-2.0
//
// The command line taken apart: what is a flag and what is not. What it means is for options.cc to say.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cnpa {

/// Each argument ends up in exactly one of these: nothing is ignored.
struct Arguments {
  std::map<std::string_view, std::vector<std::string>> flags;  ///< By name: each text that it was given.
  std::vector<std::string> words;               ///< What is no flag: a command, then the names that it takes.
  std::vector<std::string> unknown;             ///< What looks like a flag and is none of any command.
  std::vector<std::string_view> without_value;  ///< Names of flags that need a value and have none.
};

/// Takes the command line apart, without the name of the program. Flags of all commands are known, and may stand
/// anywhere before "--". A flag is never the value of another: `--archive --diff` leaves --archive without one.
///
/// Errors:  kInvalid.
Result<Arguments> SplitArguments(const std::vector<std::string>& arguments);

}  // namespace cnpa
