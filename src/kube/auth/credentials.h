// SPDX-License-Identifier: Apache-2.0
//
// The credentials that a kubeconfig only says how to get: of an exec plugin, kept between passes, or of a token file.
#pragma once

#include <functional>
#include <string>

#include "base/environment.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/auth/connection.h"
#include "kube/auth/exec_plugin.h"

namespace cnpa {

/// Returns the token in the text of a file: without the blanks and line breaks around it.
std::string TrimToken(const std::string& text);

/// Returns the folder in which credentials are kept between passes; "" where there is none.
///
/// Source:  systemd.exec(5), CacheDirectory=; XDG Base Directory Specification.
std::string CredentialFolder(const Environment& environment);

/// A credential of an exec plugin is kept in a file of mode 0600 until half a minute before it expires, for ten minutes
/// if it does not say when; so a pass every few seconds does not run the plugin each time.
class Credentials {
 public:
  struct Settings {
    ExecLimits limits;
    std::string folder;  ///< Of CredentialFolder().
    std::function<Time()> now;
    std::function<void(const std::string&)> on_note;  ///< Is told why nothing is kept, and when a plugin runs.
  };

  explicit Credentials(Settings settings) : settings_(std::move(settings)) {}

  /// Puts into `connection` what its plugin gives, if it has one and no other way to say who we are.
  ///
  /// Errors:  of RunExecPlugin().
  Status Provide(Connection& connection);

  /// Takes back what the server refused, and puts in what may be better: of the plugin, if what was refused had been
  /// kept, or of the token file, if it has changed. Returns whether there is something to try.
  ///
  /// Errors:  of RunExecPlugin().
  Result<bool> Renew(Connection& connection);

 private:
  Status Run(Connection& connection) const;

  Settings settings_;
  bool kept_ = false;  ///< What the connection has was not got in this pass.
};

}  // namespace cnpa
