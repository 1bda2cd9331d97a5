// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/exit_code.h"

namespace cnpa {

/// SIGTERM and SIGINT as something that an event loop can wait for. The first one asks the pass to end; a
/// second one ends the process at once.
class StopSignals {
 public:
  /// Takes over both signals for the process, from now on.
  static void Install();

  /// Returns the signal that came, or 0.
  static int received();

  /// Returns what `code` is behind a stop signal: its number tells whoever sent it that it was heard.
  static ExitCode After(ExitCode code);

  /// Returns a descriptor that becomes, and stays, readable once a signal came; -1 before Install().
  static int fd();
};

}  // namespace cnpa
