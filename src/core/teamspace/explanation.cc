// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/explanation.h"

namespace cnpa {

std::string_view StandingName(Standing standing) {
  switch (standing) {
    case Standing::kUnknown: return "Unknown";
    case Standing::kInSync: return "InSync";
    case Standing::kNew: return "New";
    case Standing::kOutOfSync: return "OutOfSync";
    case Standing::kRefused: return "Refused";
    case Standing::kWaiting: return "Waiting";
    case Standing::kDeleting: return "Deleting";
  }
  return "";
}

std::string_view PresenceName(Presence presence) {
  switch (presence) {
    case Presence::kThere: return "There";
    case Presence::kMissing: return "Missing";
    case Presence::kDeleting: return "Deleting";
    case Presence::kForeign: return "Foreign";
  }
  return "";
}

}  // namespace cnpa
