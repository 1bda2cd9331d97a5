// SPDX-License-Identifier: Apache-2.0
//
// One pass with all that comes before it: credentials, a transport, the archive.
#pragma once

#include <functional>

#include "app/cli/options.h"
#include "app/output/log.h"
#include "app/pass/reconcile.h"

namespace cnpa {

struct PassResult {
  PassOutcome outcome;
  std::string cluster{};           ///< "https://10.0.0.1:6443 (context "default", FILE)"; empty: none was found.
  bool loaded_by_systemd = false;  ///< The kubeconfig is a copy of when the service started.
};

struct PassSetting {
  bool in_loop = false;                       ///< Another pass follows.
  std::string team_space;                     ///< The only one to look at, if it is there; empty: all.
  std::function<void()> on_observed = [] {};  ///< Called once the cluster has been read.

  /// Called with how the pass ended before it lingers.
  std::function<void(const PassResult&)> on_linger = [](const PassResult& /*result*/) {};
};

/// Makes one pass as `options` say, --diff included. What there is to say goes to `log` and to stdout.
PassResult MakePass(const Options& options, const Log& log, const PassSetting& setting);

}  // namespace cnpa
