// SPDX-License-Identifier: Apache-2.0
//
// The table of flags: the one place that says which there are, what they mean, and how their text becomes a
// value. The command line, CNPA_OP_* variables, the configuration file and --help all read it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/cli/options.h"
#include "base/result.h"

namespace cnpa {

/// Where a flag may stand. Bits, so that one flag can serve several commands.
enum FlagScope : unsigned {
  kForReconcile = 1U,
  kForRbac = 2U,
  kForVersion = 4U,
  kForAll = 8U,
  kForCheck = 16U,
  kForGet = 32U,
  kForExplain = 64U,
  kForCluster = kForReconcile | kForCheck | kForGet | kForExplain,  ///< All that talk to one.
};

enum class FlagKind { kSwitch, kValue, kList };

struct Flag {
  std::string_view name;    ///< Without dashes: also the key in the configuration file. Once for a command.
  std::string_view letter;  ///< "o" for -o, or "".
  FlagKind kind;
  std::string_view value;     ///< What the value is called in help: "DIR".
  std::string_view fallback;  ///< Text of the default; "": the default is told by `help`.
  unsigned scope;
  bool command_line_only;  ///< Neither a variable nor a key of the file.
  std::string_view help;

  /// Puts the value of `text` into the options.
  ///
  /// Errors:  kInvalid: what would be right.
  Status (*set)(Options& options, const std::string& text);
};

/// Returns all flags, in the order of help.
std::span<const Flag> Flags();

/// Returns the name of the environment variable of a flag: "CNPA_OP_REQUEST_TIMEOUT".
std::string EnvironmentName(const Flag& flag);

}  // namespace cnpa
