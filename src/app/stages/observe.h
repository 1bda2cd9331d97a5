// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/objects/objects.h"
#include "core/plan/change.h"
#include "core/teamspace/explanation.h"
#include "kube/api/client.h"

namespace cnpa {

/// What people want to see beside what a plan depends on.
struct Sights {
  std::map<std::string, std::string> created;                      ///< creationTimestamp by TeamSpace.
  std::map<std::string, std::map<std::string, std::string>> used;  ///< status.used of the quota, by namespace.
};

/// At which resourceVersion each list holds: where a watch goes on.
struct ListVersions {
  std::string team_spaces;
  std::string namespaces;
  std::string quotas;
};

/// Reads all that a pass needs to know, side by side, as of `now`. All or nothing: a partial read is never a plan.
/// `sights`, unless null, gets the rest that is worth seeing, `versions` where the lists stand.
///
/// Errors:  of the first list that failed, in words for the user.
Result<Observation> Observe(Client& client, Time now, Sights* sights = nullptr, ListVersions* versions = nullptr);

/// Reads the same of one team space, by its name, with the same rights and not one more; `sights` gets what is to be
/// seen of it closely.
///
/// Errors:  as Observe().
/// Requires: IsObjectName(name).
Result<Observation> ObserveOne(Client& client, Time now, const std::string& name, CloseSights& sights);

/// Reads the CRD into `observation` where `plan`, which was made from it, depends on more than MustReadCrd() can see:
/// before a status is written it must be known that the server keeps one. Without the subresource it answers as if the
/// TeamSpace were gone. Returns whether the CRD was read, so that the plan is to be made again.
///
/// Errors:  of the request that failed.
Result<bool> ReadCrdFor(Client& client, const Plan& plan, Observation& observation);

/// Reads the team spaces alone, in the order of their names: for whoever may read nothing else, or needs their names.
///
/// Errors:  as Observe().
Result<std::vector<TeamSpace>> ObserveTeamSpaces(Client& client, Sights& sights);

}  // namespace cnpa
