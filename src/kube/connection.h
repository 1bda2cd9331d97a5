// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cnpa {

/// Where the API server is and who we are there: what a kubeconfig or a service account boils down to. Holds secrets.
struct Connection {
  std::string server;           ///< "https://host:port[/prefix]", no '/' at the end.
  std::string ca_pem;           ///< Empty: the system's certificates.
  std::string certificate_pem;  ///< Empty: none.
  std::string key_pem;
  std::string token;            ///< Empty: none.
  std::string tls_server_name;  ///< Empty: the server's host.
  bool insecure_skip_tls_verify = false;
  std::string origin;  ///< For messages: `context "default", /etc/rancher/k3s/k3s.yaml`.
};

}  // namespace cnpa
