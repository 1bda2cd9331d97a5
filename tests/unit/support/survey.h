// SPDX-License-Identifier: Apache-2.0
//
// A survey in which all is well, for a test to spoil in one place.
#pragma once

#include <string>

#include "app/check/survey.h"
#include "support/builders.h"
#include "support/certificates.h"

namespace cnpa {

inline Survey GoodSurvey() {
  Survey survey;
  static const Authorities kAuthorities = Trusting(MakeIdentity());
  survey.connection =
      Connection{.server = "https://10.0.0.1:6443", .authorities = kAuthorities, .origin = "context \"c\", /k"};
  survey.version = Result<std::string>("v1.37.2");
  survey.ready_is_told = true;
  survey.clock = {.sent = kNow, .received = kNow, .date = "Tue, 06 May 2031 07:08:09 GMT"};
  survey.user = Result<UserInfo>(UserInfo{"cnpa-op", {"system:authenticated"}});
  survey.crd = Result<CrdReport>(
      CrdReport{.established = true, .cluster_scoped = true, .served = true, .has_status = true, .has_schema = true});
  survey.rights.assign(kLeastRights.size(), Result<bool>(true));
  survey.lists = Result<ListSizes>(ListSizes{.team_spaces = 2, .namespaces = 1, .quotas = 1});
  survey.archive = ArchiveState{.there = true, .looked_at = "/a", .mode = 0700, .free_bytes = 3ULL << 30U};
  survey.archive_folder = "/a";
  survey.now = kNow;
  return survey;
}

/// Returns where in Survey::rights the right to `verb` on `resource` stands.
inline std::size_t RightIndex(std::string_view resource, std::string_view verb) {
  std::size_t i = 0;
  while (kLeastRights.at(i).resource != resource || kLeastRights.at(i).verb != verb) ++i;
  return i;
}

}  // namespace cnpa
