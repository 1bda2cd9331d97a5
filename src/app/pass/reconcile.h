// SPDX-License-Identifier: Apache-2.0
//
// One run of `cnpa-op reconcile --once` or `--diff`: observe, compute, then apply or print.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "app/cli/exit_code.h"
#include "app/cli/options.h"
#include "app/metrics/pass_numbers.h"
#include "app/output/layout.h"
#include "app/output/log.h"
#include "app/render/document.h"
#include "app/stages/archive.h"
#include "app/stages/linger.h"
#include "app/stages/report.h"
#include "kube/http/transport.h"

namespace cnpa {

/// How a run ended.
struct PassOutcome {
  ExitCode code = ExitCode::kUnreadable;
  std::optional<Totals> totals;  ///< Of a pass that has read the cluster.
  bool partial = false;          ///< It has looked at one team space only.
  bool unauthorized = false;     ///< The server took no credentials of ours.
  PassNumbers numbers;           ///< All rounds of it together, without what came after it.
  std::optional<Wake> wake;      ///< Set: it has lingered, and this ended that.
};

/// What a run needs of the world outside of the cluster.
struct ReconcileContext {
  const Options& options;
  const Log& log;
  Archive& archive;
  std::function<Time()> now;
  /// Adds to an error what only the credentials' owner knows, such as that they have expired.
  std::function<Error(Error)> explain = [](Error error) { return error; };
  std::function<void()> on_observed = [] {};  ///< Called once the cluster has been read.
  /// Called with how the run ended before it lingers.
  std::function<void(const PassOutcome&)> on_linger = [](const PassOutcome& /*outcome*/) {};
  std::string team_space;            ///< The only one to look at, if it is there; empty: all.
  std::string instance = "unknown";  ///< For events: the name of this machine or pod.
  std::string runtime_folder;        ///< Where repairs are remembered between passes; empty: nowhere.
  PassDocument* document = nullptr;  ///< Set: is told all of it; --diff then prints no lines.
  bool in_loop = false;              ///< Another pass follows: say what is new, not what is still so.
  ViewForm stdout_form;
  ViewForm stderr_form;
};

/// Makes one pass, and up to two more at once where another writer was faster; or prints what one would do. After a
/// pass that had nothing to write, and in which nothing failed, it lingers as long as the options say.
PassOutcome Reconcile(Transport& transport, const ReconcileContext& context);

}  // namespace cnpa
