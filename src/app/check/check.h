// SPDX-License-Identifier: Apache-2.0
//
// The judging half of `cnpa-op check`: what was found, thing by thing, each with how to mend it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/check/survey.h"
#include "app/cli/exit_code.h"

namespace cnpa {

enum class CheckKind {
  kKubeconfig,
  kCertificate,
  kServer,
  kIdentity,
  kCrd,
  kRights,
  kLists,
  kArchive,
  kClock,
  kConfig
};

/// Returns "kubeconfig", "certificate", ...
std::string_view CheckKindName(CheckKind kind);

enum class CheckStatus {
  kOk,
  kWarn,        ///< Works, and somebody should look at it.
  kFail,        ///< Keeps cnpa-op from its work.
  kNotChecked,  ///< Could not be looked at, since something before it failed.
};

struct Check {
  CheckKind kind = CheckKind::kKubeconfig;
  CheckStatus status = CheckStatus::kOk;
  std::string subject;  ///< Of kRights, the resource; else empty.
  std::string detail;
  std::string remedy;  ///< What to do about it; empty for what is well.

  bool operator==(const Check&) const = default;
};

/// Returns what `survey` amounts to, in the order in which one thing stands on another.
std::vector<Check> ComputeChecks(const Survey& survey);

/// Returns kUsage when the kubeconfig can't be used, kUnreadable when the server can't be reached or refuses us,
/// kUnconverged when anything else fails.
ExitCode ComputeCheckCode(const std::vector<Check>& checks);

}  // namespace cnpa
