// SPDX-License-Identifier: Apache-2.0
//
// From a kubeconfig, or a pod's service account, to a Connection.
#pragma once

#include <string>

#include "base/environment.h"
#include "base/result.h"
#include "kube/auth/connection.h"

namespace cnpa {

/// What the user said about which cluster, and where to look.
struct KubeconfigQuery {
  std::string file;     ///< --kubeconfig; empty: not given.
  std::string context;  ///< --context; empty: the current one.
  Environment environment;
  bool is_root = false;  ///< Then a kubeconfig that others can change is refused.
  /// Where a pod's service account and k3s are found; other folders in tests.
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string k3s_file = "/etc/rancher/k3s/k3s.yaml";
};

/// Returns how to reach the cluster, looking where kubectl would, then where this program's own places are:
/// --kubeconfig, $KUBECONFIG (a list, merged), $CREDENTIALS_DIRECTORY/kubeconfig, ~/.kube/config, a pod's
/// service account, k3s.
///
/// Programs that get credentials are named in it and not run.
///
/// Errors:  kInvalid, naming the file, the entry and the field.
///          Source:  k8s.io/client-go/tools/clientcmd; Kubernetes, Organizing Cluster Access Using kubeconfig Files.
Result<Connection> LoadConnection(const KubeconfigQuery& query);

}  // namespace cnpa
