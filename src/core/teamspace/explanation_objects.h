// SPDX-License-Identifier: Apache-2.0
//
// The objects of one team space, field by field: a part of ComputeExplanation().
#pragma once

#include <string>

#include "core/teamspace/explanation.h"

namespace cnpa {

/// What is known of one team space; null is what is not there.
struct KnownTeamSpace {
  const TeamSpace* team_space = nullptr;
  const Namespace* space = nullptr;
  const Quota* quota = nullptr;
  const Chain* chain = nullptr;
  const CloseSights* sights = nullptr;
};

/// Return what is found of an object of team space `name` and wanted of it. What differs is what the chain changes, in
/// its words.
///
/// Requires: there is the TeamSpace; for FindNamespace() there may be none.
ObjectFinding FindTeamSpace(const KnownTeamSpace& known);
ObjectFinding FindNamespace(const KnownTeamSpace& known, const std::string& name);
ObjectFinding FindQuota(const KnownTeamSpace& known, const std::string& name);

}  // namespace cnpa
