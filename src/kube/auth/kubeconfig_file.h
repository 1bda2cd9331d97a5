// SPDX-License-Identifier: Apache-2.0
//
// The files of a $KUBECONFIG, merged by kubectl's rules and not yet understood.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kube/json/yaml.h"

namespace cnpa {

/// A named entry of one of the three lists, and the file that it stands in.
struct KubeconfigEntry {
  std::string name;
  YamlValue value;  ///< What is under `cluster:`, `user:` or `context:`; may be null.
  std::string file;
  std::string words;   ///< `user "admin"`.
  bool alone = false;  ///< Its file is a copy that stands without what stood beside it.
};

/// The first file to define a name, or the current context, wins.
struct Kubeconfig {
  std::vector<KubeconfigEntry> clusters;
  std::vector<KubeconfigEntry> users;
  std::vector<KubeconfigEntry> contexts;
  std::string current_context;
  std::string files;                  ///< For messages.
  std::vector<std::string> warnings;  ///< Of files that others can write.
};

/// Reads and merges `files`; what is not there is passed over if `missing_is_fine`.
///
/// Errors:  kNotFound when none of them is there; kInvalid, naming the file: it can't be read, is no kubeconfig, or,
///          for root, who would run what stands in it, others can change it.
///          Source:  k8s.io/client-go/tools/clientcmd, ClientConfigLoadingRules.Load.
Result<Kubeconfig> ReadKubeconfig(const std::vector<std::string>& files, bool missing_is_fine, bool is_root);

/// Splits a list such as $KUBECONFIG; empty and repeated names are dropped.
std::vector<std::string> SplitFileList(const std::string& list);

}  // namespace cnpa
