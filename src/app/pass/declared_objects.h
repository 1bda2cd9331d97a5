// SPDX-License-Identifier: Apache-2.0
//
// The objects that the configuration declares, in a pass: today the CRD.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/options.h"
#include "app/output/log.h"
#include "app/pass/complaints.h"
#include "app/pass/memory.h"
#include "app/render/render.h"
#include "app/stages/apply.h"
#include "app/stages/archive.h"
#include "app/stages/report.h"
#include "kube/api/client.h"

namespace cnpa {

/// Returns whether a plan creates something.
bool Creates(const Plan& declared);

class DeclaredObjects {
 public:
  DeclaredObjects(Client& client, const Options& options, const Log& log, std::function<Time()> now)
      : client_(client), options_(options), log_(log), now_(std::move(now)) {}

  /// Returns what is to be done about them; nothing where none is configured.
  ///
  /// Errors:  of the request that failed; kMalformed.
  Result<Plan> Compute();

  /// Does it; `on_set` is called with each set and how it ended.
  ///
  /// Errors:  as Compute().
  Status Keep(Memory& memory, Archive& archive, const OnChain& on_set);

  /// Returns whether Keep() has created one.
  bool created() const { return created_; }

  /// Returns the uids of those that Keep() had something to do about.
  std::vector<std::string> uids() const;

  void AddTo(Totals& totals) const { totals.AddObjects(plan_, report_); }
  void AddTo(Complaints& complaints, const Renderer& renderer) const;

 private:
  Client& client_;
  const Options& options_;
  const Log& log_;
  std::function<Time()> now_;
  Plan plan_;
  Report report_;
  bool created_ = false;
};

}  // namespace cnpa
