// SPDX-License-Identifier: Apache-2.0
//
// What each command that talks to a cluster begins with: signals, credentials, a transport.
#pragma once

#include <memory>
#include <string_view>

#include "app/cli/exit_code.h"
#include "app/cli/options.h"
#include "app/output/log.h"
#include "app/stages/archive.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/auth/connection.h"
#include "kube/http/transport.h"

namespace cnpa {

struct Session {
  Connection connection;  ///< Without its secrets: what may be told of it.
  std::unique_ptr<Transport> transport;
};

/// Finds the cluster that `options` mean and makes a transport to it, which ends with --timeout or a stop signal.
/// Nothing is sent yet, but an exec plugin may run. With the level debug each request is told to `log`.
///
/// Errors:  kInvalid: the kubeconfig can't be read or used; kUnavailable: its exec plugin failed; kStopped.
/// Requires: `log` outlives the session.
Result<Session> OpenSession(const Options& options, const Log& log);

/// Returns what to exit with when OpenSession() has failed: what is wrong with a kubeconfig is usage, what its plugin
/// could not get is not.
ExitCode CodeForSession(const Error& error);

/// Tells what is doubtful about a kubeconfig that is used all the same.
void TellWarnings(const Connection& connection, const Log& log);

/// Returns the archive that `options` mean.
Archive MakeArchive(const Options& options);

/// Returns whether `error` is a permission that is missing, and not credentials that are refused.
bool IsForbidden(const Error& error);

/// Returns `error` of a command that only looks: for a missing permission with `needs`, in place of the advice to
/// become what passes run as.
Error ExplainForbiddenLook(Error error, std::string_view needs);

/// Returns `error` with what it does not say: whose credentials were refused, and why that may be; where no API is.
Error ExplainRefusal(Error error, const Connection& connection, Time now);

}  // namespace cnpa
