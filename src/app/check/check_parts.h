// SPDX-License-Identifier: Apache-2.0
//
// The parts of ComputeChecks(): what is asked of the cluster (check_cluster.cc), and what is this machine's
// (check_machine.cc).
#pragma once

#include <string>
#include <vector>

#include "app/check/check.h"
#include "app/check/survey.h"
#include "kube/auth/certificate.h"

namespace cnpa {

Check CheckKubeconfig(const Survey& survey);
Check CheckCertificate(const Validity& validity, Time now);
Check CheckArchive(const Survey& survey);
Check CheckClock(const Survey& survey);

Check CheckServer(const Survey& survey);
Check CheckIdentity(const Survey& survey);
Check CheckCrd(const Survey& survey);

/// Returns one check for each resource of kLeastRights.
std::vector<Check> CheckRights(const Survey& survey);

/// Returns whether what a pass reads can be read.
Check CheckLists(const Survey& survey);

}  // namespace cnpa
