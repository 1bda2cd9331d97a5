// SPDX-License-Identifier: Apache-2.0
//
// What the cluster and the user of a context say, as parts of a Connection.
#pragma once

#include "base/environment.h"
#include "base/result.h"
#include "kube/auth/connection.h"
#include "kube/auth/kubeconfig_file.h"

namespace cnpa {

/// Reads a cluster: its server, how that is verified, and the proxy to it.
///
/// Errors:  kInvalid, naming the file, the entry and the field.
Status ReadCluster(const KubeconfigEntry& entry, const Environment& environment, Connection& connection);

/// Reads a user: credentials, or the plugin that gets them, which is told of `cluster` what it asks for.
///
/// Errors:   as those of ReadCluster().
/// Requires: ReadCluster() has read `cluster` into `connection`.
Status ReadUser(const KubeconfigEntry& entry, const KubeconfigEntry& cluster, Connection& connection);

}  // namespace cnpa
