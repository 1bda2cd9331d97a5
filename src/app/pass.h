// SPDX-License-Identifier: Apache-2.0
//
// One pass with all that comes before it: credentials, a transport, the archive.
#pragma once

#include <functional>

#include "app/log.h"
#include "app/options.h"
#include "app/reconcile.h"

namespace cnpa {

struct PassSetting {
  bool in_loop = false;                       ///< Another pass follows.
  std::function<void()> on_observed = [] {};  ///< Called once the cluster has been read.
};

struct PassResult {
  PassOutcome outcome;
  bool loaded_by_systemd = false;  ///< The kubeconfig is a copy of when the service started.
};

/// Makes one pass as `options` say, --diff included. What there is to say goes to `log` and to stdout.
PassResult MakePass(const Options& options, const Log& log, const PassSetting& setting);

}  // namespace cnpa
