// SPDX-License-Identifier: Apache-2.0
//
// `cnpa-op get`: the team spaces as people want to see them. The computing and the rendering half, both pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/output/layout.h"
#include "app/stages/observe.h"
#include "core/objects/objects.h"
#include "core/plan/change.h"

namespace cnpa {

/// A resource that a quota bounds, as the server's texts have it; empty where there is none.
struct Usage {
  std::string used;
  std::string limit;
  bool operator==(const Usage&) const = default;
};

struct TeamSpaceOverview {
  std::string name;
  std::string namespace_name;  ///< Empty: it has none that is ours.
  Usage pods;
  Usage cpu;
  std::optional<Condition> ready;
  std::int64_t generation = 0;
  std::optional<std::int64_t> observed_generation;
  std::string created;
  std::string deletion_timestamp;          ///< Empty while it is not being deleted.
  std::optional<std::size_t> differences;  ///< Changes that a pass would make; nothing: not known.
  bool drifted = false;                    ///< What it has is not what an applied spec asks for.
  std::string refusal;                     ///< The reason why it can't be as it should, if there is one.
  bool operator==(const TeamSpaceOverview&) const = default;

  /// The word for its state: the reason of `Ready`; "Deleting"; "Drift" where that says that all is well and a pass
  /// would find otherwise; or "Pending" for a spec that no pass has looked at yet.
  std::string reason() const;
};

/// Returns what is to be seen of each team space, in the order of their names.
std::vector<TeamSpaceOverview> ComputeOverview(const Observation& observation, const Sights& sights, const Plan& plan);

/// Returns what the team spaces alone say, which are sorted by name: what they ask for and their status.
std::vector<TeamSpaceOverview> ComputeOverview(const std::vector<TeamSpace>& team_spaces, const Sights& sights);

enum class OverviewForm { kTable, kWide, kNames };

/// Returns the lines of a table, or of names as kubectl has them; `now` is what ages are counted from. A message that
/// does not fit a terminal beside its row stands below it.
std::vector<std::string> OverviewLines(const std::vector<TeamSpaceOverview>& overview, OverviewForm form, Time now,
                                       const ViewForm& view);

/// Returns the document of `-o json`.
std::string OverviewDocument(const std::vector<TeamSpaceOverview>& overview);

/// Returns the document of `-o json` where the cluster could not be read.
std::string FailedOverviewDocument(std::string_view error);

}  // namespace cnpa
