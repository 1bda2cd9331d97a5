// SPDX-License-Identifier: Apache-2.0
//
// The man pages, made of the tables of commands and flags.
#pragma once

#include <string>

namespace cnpa {

/// What stands at the foot of each page.
struct Edition {
  std::string version;
  std::string date;  ///< The day of the version: "2026-11-30".
};

/// Returns cnpa-op(1), for man's macros.
std::string CommandPage(const Edition& edition);

/// Returns cnpa-op-config(5).
std::string ConfigPage(const Edition& edition);

}  // namespace cnpa
