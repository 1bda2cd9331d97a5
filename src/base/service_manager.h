// SPDX-License-Identifier: Apache-2.0
//
// What a service and the manager that started it say to each other: systemd's protocol of environment variables and
// datagrams, for which no library is needed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/file.h"

namespace cnpa {

/// Returns the assignment of what `systemctl status` shows. A manager drops a datagram that is larger than 4 KiB, and a
/// status that is not UTF-8, each time with a line in the journal.
std::string StatusAssignment(std::string_view words);

/// Source:  sd_notify(3), sd_watchdog_enabled(3).
class ServiceManager {
 public:
  /// Finds the manager that `environment` tells of, for the process `pid`; without one nothing is ever sent.
  static ServiceManager Find(const Environment& environment, long pid);

  /// Returns whether somebody listens.
  bool present() const { return static_cast<bool>(socket_); }

  /// Returns how long it may hear nothing of us before it ends us; nothing: as long as we like.
  std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }

  /// Sends assignments, one a line: "READY=1\nSTATUS=at work". Never waits.
  ///
  /// Returns false when they must be sent again to be heard: somebody listens, and has no time now.
  bool Notify(const std::string& assignments) const;

 private:
  UniqueFd socket_;
  std::string address_;  ///< A path, or a name that begins with '\0'.
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace cnpa
