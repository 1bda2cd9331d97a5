// SPDX-License-Identifier: Apache-2.0
//
// The judging half of `cnpa-op check`: what was found, thing by thing, each with how to mend it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

/// Returns what is said of a thing that was not looked at.
Check NotChecked(CheckKind kind);

}  // namespace cnpa
