// SPDX-License-Identifier: Apache-2.0
#include "app/check/check.h"

namespace cnpa {

std::string_view CheckKindName(CheckKind kind) {
  switch (kind) {
    case CheckKind::kKubeconfig: return "kubeconfig";
    case CheckKind::kCertificate: return "certificate";
    case CheckKind::kServer: return "server";
    case CheckKind::kIdentity: return "identity";
    case CheckKind::kCrd: return "crd";
    case CheckKind::kRights: return "rights";
    case CheckKind::kLists: return "lists";
    case CheckKind::kArchive: return "archive";
    case CheckKind::kClock: return "clock";
    case CheckKind::kConfig: return "config";
  }
  return "";
}

Check NotChecked(CheckKind kind) {
  return {.kind = kind, .status = CheckStatus::kNotChecked, .detail = "not checked"};
}

}  // namespace cnpa
