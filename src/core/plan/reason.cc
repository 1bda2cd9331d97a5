// SPDX-License-Identifier: Apache-2.0
#include "core/plan/reason.h"

namespace cnpa {

std::string_view ReasonName(Reason reason) {
  switch (reason) {
    case Reason::kReconciled: return "Reconciled";
    case Reason::kNamespaceConflict: return "NamespaceConflict";
    case Reason::kNamespaceTerminating: return "NamespaceTerminating";
    case Reason::kInvalidName: return "InvalidName";
    case Reason::kInvalidQuantity: return "InvalidQuantity";
    case Reason::kQuotaRefused: return "QuotaRefused";
    case Reason::kForbidden: return "Forbidden";
    case Reason::kArchiveFailed: return "ArchiveFailed";
    case Reason::kWriteFailed: return "WriteFailed";
    case Reason::kUnreadable: return "Unreadable";
    case Reason::kCrdDeleting: return "CrdDeleting";
    case Reason::kCrdUnfit: return "CrdUnfit";
    case Reason::kNotOurs: return "NotOurs";
    case Reason::kObjectTerminating: return "ObjectTerminating";
  }
  return "Unknown";
}

}  // namespace cnpa
