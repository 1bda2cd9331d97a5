// SPDX-License-Identifier: Apache-2.0
//
// Why a team space is, or is not, as it should be: one word each, the same in conditions, output, tests and docs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cnpa {

enum class Reason {
  kReconciled,
  kNamespaceConflict,
  kNamespaceTerminating,
  kInvalidName,
  kInvalidQuantity,
  kQuotaRefused,
  kForbidden,
  kArchiveFailed,
  kWriteFailed,
  // Not conditions, only in output: nothing is written for these.
  kUnreadable,
  kCrdDeleting,
  kCrdUnfit,
  kNotOurs,            ///< Of a declared object: another installation keeps it.
  kObjectTerminating,  ///< The same: it has to go before it can be created again.
};

/// Returns the reason as conditions spell it: "NamespaceConflict".
///
/// Source:  Kubernetes API conventions, Typical status properties.
constexpr std::string_view ReasonName(Reason reason) {
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
  return "";
}

/// A condition's message may have 32768 characters; nobody reads more than a screen of it.
inline constexpr std::size_t kLongestMessage = 1024;

/// A team space that can't be brought to its desired state now.
struct Refusal {
  Reason reason = Reason::kReconciled;
  std::string message;  ///< For the team: what is wrong, and what to do.

  /// Returns whether time alone will mend it: no error, but not converged either.
  bool waiting() const { return reason == Reason::kNamespaceTerminating || reason == Reason::kObjectTerminating; }
  bool operator==(const Refusal&) const = default;
};

}  // namespace cnpa
