// SPDX-License-Identifier: Apache-2.0
//
// The words for what somebody did to what is ours, without ages: they are read later.
#pragma once

#include <string>
#include <string_view>

#include "core/plan/repair.h"

namespace cnpa {

inline constexpr std::string_view kContested = "Contested";

/// What to do about a fight.
inline constexpr std::string_view kEndFight = "stop it, or change the TeamSpace";

/// Returns "pods 99 -> 6: was changed by kubectl-patch", "was deleted: re-created".
std::string RepairWords(const Repair& repair);

/// Returns "helm sets spec.hard.pods of ResourceQuota/team-red/team-quota again and again".
std::string FightWords(const Repair& repair);

}  // namespace cnpa
