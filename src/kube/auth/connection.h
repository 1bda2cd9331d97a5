// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kube/auth/certificate.h"

namespace cnpa {

/// A program that gets credentials for us.
///
/// Source:  client.authentication.k8s.io, ExecCredential; k8s.io/client-go/tools/clientcmd/api, ExecConfig.
struct ExecPlugin {
  enum class Interaction { kNever, kIfAvailable, kAlways };

  std::string command;  ///< Empty: there is none. A path, or a name to find in $PATH.
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  ///< On top of ours.
  std::string api_version;
  Interaction interaction = Interaction::kNever;
  std::string install_hint;
  std::string cluster_json;  ///< What it is told of the cluster; empty: nothing.
};

/// Whom we pretend to be; the server must allow us to.
struct Impersonation {
  std::string user;  ///< Empty: nobody.
  std::string uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::string>> extra;  ///< A key may be there more than once.
};

/// Where the API server is and who we are there: what a kubeconfig or a service account boils down to. Holds secrets.
struct Connection {
  std::string server;       ///< "https://host:port[/prefix]", no '/' at the end.
  Authorities authorities;  ///< Whose word on server and proxy we take. None: the system's.
  ClientCertificate client_certificate;
  std::string token;       ///< Empty: none.
  std::string token_file;  ///< Where `token` was read; empty: it did not come from a file of its own.
  std::string username;    ///< Empty, as the password: no basic authentication.
  std::string password;
  ExecPlugin exec;
  Impersonation impersonate;
  std::string proxy;            ///< URL, perhaps with a password; empty: none.
  std::string tls_server_name;  ///< Empty: the server's host.
  bool insecure_skip_tls_verify = false;
  bool loaded_by_systemd = false;     ///< It came from $CREDENTIALS_DIRECTORY: a copy of when the service started.
  std::string user;                   ///< The name of the kubeconfig's user.
  std::string origin;                 ///< For messages: `context "default", /etc/rancher/k3s/k3s.yaml`.
  std::vector<std::string> warnings;  ///< Of files that others can write, a line each.
};

}  // namespace cnpa
