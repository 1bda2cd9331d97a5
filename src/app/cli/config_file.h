// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace cnpa {

/// One setting of a configuration file.
struct Setting {
  std::vector<std::string> values;  ///< One, unless the file has a list; never none.
  bool is_list = false;             ///< A list of one is a list, too.
  int line = 0;                     ///< From 1.
};

/// Reads a configuration file: a YAML map of flags' names to scalars or lists of scalars. Whether a key is
/// known and a value right is for the caller to say.
///
/// Errors:  kNotFound when it is not there; kInvalid, with file and line; and for root when others can change it.
Result<std::map<std::string, Setting>> ReadConfigFile(const std::string& path);

}  // namespace cnpa
