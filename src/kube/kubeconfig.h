// SPDX-License-Identifier: Apache-2.0
//
// From a kubeconfig, or a pod's service account, to a Connection. YAML ends here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/connection.h"

namespace cnpa {

/// What the user said about which cluster, and where to look.
struct KubeconfigQuery {
  std::string file;     ///< --kubeconfig; empty: not given.
  std::string context;  ///< --context; empty: the current one.
  /// Returns an environment variable, or nothing when it is not set or empty.
  std::function<std::optional<std::string>(const std::string&)> environment;
  /// Where a pod's service account and k3s are found; other folders in tests.
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string k3s_file = "/etc/rancher/k3s/k3s.yaml";
};

/// Returns how to reach the cluster, looking where kubectl would, then where this program's own places are:
/// --kubeconfig, $KUBECONFIG (a list, merged), $CREDENTIALS_DIRECTORY/kubeconfig, ~/.kube/config, a pod's
/// service account, k3s.
///
/// Errors:  kInvalid, naming the file, the entry and the field; fields that are not supported are refused by name.
///          Source:  k8s.io/client-go/tools/clientcmd; Kubernetes, Organizing Cluster Access Using kubeconfig Files.
Result<Connection> LoadConnection(const KubeconfigQuery& query);

}  // namespace cnpa
