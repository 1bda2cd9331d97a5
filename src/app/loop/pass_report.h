// SPDX-License-Identifier: Apache-2.0
//
// What a pass tells the supervisor that started it, over a pipe, a line each. Both are the same program, so this is no
// format for anybody else; a pass can be killed in the midst of a line all the same.
#pragma once

#include <string>
#include <variant>

#include "app/cli/exit_code.h"
#include "app/loop/troubles.h"
#include "app/metrics/pass_numbers.h"
#include "app/output/log.h"
#include "app/stages/linger.h"
#include "base/result.h"

namespace cnpa {

/// The cluster has been read.
struct PassObserved {
  bool operator==(const PassObserved&) const = default;
};

/// The pass is over.
struct PassEnded {
  ExitCode code = ExitCode::kUnreadable;
  Looked looked = Looked::kAtNothing;
  bool unauthorized = false;       ///< The server took no credentials of ours.
  bool loaded_by_systemd = false;  ///< Those credentials.
  std::string summary;             ///< "5 team spaces in sync"; empty when the cluster could not be read.
  PassNumbers numbers;
  bool operator==(const PassEnded&) const = default;
};

/// The pass that is over goes on as a process: it waits for something to do.
struct PassLingers {
  bool operator==(const PassLingers&) const = default;
};

using PassMessage = std::variant<LogEntry, PassObserved, PassEnded, PassLingers, Wake>;

/// No message of a pass is longer: its reader may drop what is.
inline constexpr std::size_t kLongestPassLineBytes = std::size_t{64} << 10U;

/// Returns `message` as a line, its newline included. Words that are too long for it are shortened.
std::string EncodePassMessage(const PassMessage& message);

/// Reads what EncodePassMessage() wrote, without the newline.
///
/// Errors:  kMalformed.
Result<PassMessage> DecodePassMessage(std::string_view line);

}  // namespace cnpa
