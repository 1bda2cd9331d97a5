// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cnpa {

/// What the process says to whoever started it.
enum class ExitCode {
  kConverged = 0,      ///< All is as it should be; --diff: no differences.
  kUnconverged = 1,    ///< At least one team space is not; --diff: there are differences.
  kUsage = 2,          ///< Wrong usage or configuration: nothing was asked of the cluster.
  kUnreadable = 3,     ///< The cluster could not be read: nothing was written.
  kInterrupted = 130,  ///< Ended by SIGINT; what was done is reported.
  kTerminated = 143,   ///< Ended by SIGTERM; what was done is reported.
};

}  // namespace cnpa
