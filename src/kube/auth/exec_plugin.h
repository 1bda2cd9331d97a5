// SPDX-License-Identifier: Apache-2.0
//
// Credentials that a program gets for us, as kubectl has them got: `exec` of a kubeconfig's user.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/auth/certificate.h"
#include "kube/auth/connection.h"

namespace cnpa {

/// What proves who we are. Secret.
struct Credential {
  std::string token;  ///< Empty: none.
  ClientCertificate client_certificate;
  std::optional<Time> expires_at;

  bool operator==(const Credential&) const = default;
};

/// Returns all the variables that a plugin gets but $KUBERNETES_EXEC_INFO, as "NAME=value", sorted: ours, and its own.
std::vector<std::string> EnvironmentOf(const ExecPlugin& plugin);

/// Returns whether a plugin may ask somebody, which takes as long as it takes: it is allowed to, and there is a
/// terminal.
bool MayAsk(const ExecPlugin& plugin);

/// Returns the document that a plugin finds in $KUBERNETES_EXEC_INFO.
std::string EncodeExecInfo(const ExecPlugin& plugin, bool interactive);

/// Decodes what a plugin printed.
///
/// Errors:  kMalformed when it is no ExecCredential of `api_version`, has neither a token nor a certificate with its
///          key, or these can't be used. It is never quoted.
Result<Credential> DecodeExecCredential(std::string text, const std::string& api_version);

/// How long a plugin may take, and when it is to be ended before.
struct ExecLimits {
  std::chrono::milliseconds time_limit{0};
  std::function<bool()> stop_requested;
};

/// Runs a plugin for a credential.
///
/// Errors:  kUnavailable, with the plugin's last words on standard error and its install hint; kStopped.
Result<Credential> RunExecPlugin(const ExecPlugin& plugin, const ExecLimits& limits);

}  // namespace cnpa
