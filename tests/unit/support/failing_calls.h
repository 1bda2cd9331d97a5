// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cnpa {

/// While it lives, system calls of this process fail as they do on file systems that don't have them.
class FailingCalls {
 public:
  /// What each fails with; 0: it works.
  struct Errors {
    int folder_sync = 0;
    int link = 0;
    int lock = 0;
    int chown = 0;
  };

  explicit FailingCalls(Errors errors);
  ~FailingCalls();
  FailingCalls(const FailingCalls&) = delete;
  FailingCalls& operator=(const FailingCalls&) = delete;
  FailingCalls(FailingCalls&&) = delete;
  FailingCalls& operator=(FailingCalls&&) = delete;

  /// Returns the folders that were synced until now, in order.
  static const std::vector<std::string>& SyncedFolders();
};

}  // namespace cnpa
