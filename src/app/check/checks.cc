// SPDX-License-Identifier: Apache-2.0
#include "app/check/checks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/check/check_parts.h"

namespace cnpa {

std::vector<Check> ComputeChecks(const Survey& survey) {
  std::vector<Check> checks{CheckKubeconfig(survey)};
  if (survey.connection) {
    const std::optional<Validity> validity = survey.connection->client_certificate.validity();
    const Time now = std::chrono::floor<std::chrono::seconds>(survey.now);
    if (validity) checks.push_back(CheckCertificate(*validity, now));
  }
  checks.push_back(CheckServer(survey));
  checks.push_back(CheckIdentity(survey));
  checks.push_back(CheckCrd(survey));
  for (Check& check : CheckRights(survey)) checks.push_back(std::move(check));
  checks.push_back(CheckLists(survey));
  checks.push_back(CheckArchive(survey));
  checks.push_back(CheckClock(survey));
  return checks;
}

ExitCode ComputeCheckCode(const std::vector<Check>& checks) {
  ExitCode code = ExitCode::kConverged;
  for (const Check& check : checks) {
    if (check.status != CheckStatus::kFail) continue;
    if (check.kind == CheckKind::kKubeconfig) return ExitCode::kUsage;
    if (check.kind == CheckKind::kServer || check.kind == CheckKind::kIdentity) return ExitCode::kUnreadable;
    code = ExitCode::kUnconverged;
  }
  return code;
}

}  // namespace cnpa
