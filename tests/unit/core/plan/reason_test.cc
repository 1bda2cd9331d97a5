// SPDX-License-Identifier: Apache-2.0
#include "core/plan/reason.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("ReasonName spells each reason as conditions do", "[core][reason]") {
  struct Case {
    Reason reason;
    std::string want;
  };
  const std::vector<Case> cases{
      {Reason::kReconciled, "Reconciled"},
      {Reason::kNamespaceConflict, "NamespaceConflict"},
      {Reason::kNamespaceTerminating, "NamespaceTerminating"},
      {Reason::kInvalidName, "InvalidName"},
      {Reason::kInvalidQuantity, "InvalidQuantity"},
      {Reason::kQuotaRefused, "QuotaRefused"},
      {Reason::kForbidden, "Forbidden"},
      {Reason::kArchiveFailed, "ArchiveFailed"},
      {Reason::kWriteFailed, "WriteFailed"},
      {Reason::kUnreadable, "Unreadable"},
      {Reason::kCrdDeleting, "CrdDeleting"},
      {Reason::kCrdUnfit, "CrdUnfit"},
      {Reason::kNotOurs, "NotOurs"},
      {Reason::kObjectTerminating, "ObjectTerminating"},
  };
  for (const Case& c : cases) CHECK(ReasonName(c.reason) == c.want);
}

TEST_CASE("Refusal::waiting is true only of what is on its way out", "[core][reason]") {
  for (int reason = 0; reason <= static_cast<int>(Reason::kObjectTerminating); ++reason) {
    const Refusal refusal{static_cast<Reason>(reason), ""};
    CAPTURE(ReasonName(refusal.reason));
    CHECK(refusal.waiting() ==
          (refusal.reason == Reason::kNamespaceTerminating || refusal.reason == Reason::kObjectTerminating));
  }
}

}  // namespace
}  // namespace cnpa
