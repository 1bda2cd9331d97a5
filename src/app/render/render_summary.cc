// SPDX-License-Identifier: Apache-2.0
//
// The last lines: what a plan, or a pass, comes to.
#include <fmt/core.h>

#include "app/render/render.h"
#include "base/text.h"

namespace cnpa {

namespace {

/// Joins the counts that are not zero: "2 to create, 1 refused".
std::string JoinCounts(std::initializer_list<std::pair<std::uint64_t, const char*>> counts) {
  std::string text;
  for (const auto& [number, words] : counts) {
    if (number != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, words);
  }
  return text;
}

}  // namespace

std::string PlanSummary(const Plan& plan) {
  const PlanCounts counted = CountPlan(plan);
  const std::string counts = JoinCounts({{counted.created, "to create"},
                                         {counted.changed, "to change"},
                                         {counted.released, "to release"},
                                         {counted.refused, "refused"},
                                         {counted.waiting, "waiting"}});
  return counts.empty() ? "No differences." : "Plan: " + counts + ".";
}

std::string VerdictSummary(const VerdictCounts& counts) {
  const std::string unknown = JoinCounts({{counts.not_checked, "not checked"}, {counts.outdated, "changed since"}});
  std::string said;
  if (counts.accepted > 0) said = fmt::format(" accepts {}", counts.accepted);
  if (counts.refused > 0) said += fmt::format("{} refuses {}", said.empty() ? "" : ",", counts.refused);
  std::string text = said.empty() ? "" : " The server" + said;
  if (!unknown.empty()) text += (said.empty() ? " " : "; ") + unknown;
  if (!text.empty()) text += '.';
  if (counts.archive_refused) text += " Archives can't be written.";
  return text;
}

std::string StateSummary(const Totals& totals) {
  const std::string spaces = Count(totals.team_spaces, "team space");
  const std::string counts = JoinCounts({{totals.refused, "refused"},
                                         {totals.waiting, "waiting"},
                                         {totals.failed, "failed"},
                                         {totals.left, "left for the next pass"}});
  return counts.empty() ? spaces + " in sync" : spaces + ": " + counts;
}

std::string TotalsLine(const Totals& totals, std::chrono::milliseconds took) {
  const std::string counts = JoinCounts({{totals.created, "created"},
                                         {totals.changed, "changed"},
                                         {totals.deleted, "deleted"},
                                         {totals.refused, "refused"},
                                         {totals.waiting, "waiting"},
                                         {totals.failed, "failed"},
                                         {totals.left, "left for the next pass"}});
  const std::string objects =
      JoinCounts({{totals.objects_changed, "changed"}, {totals.objects_off, "not as declared"}});
  return fmt::format("{}: {}{}; {} in {}", Count(totals.team_spaces, "team space"), counts.empty() ? "in sync" : counts,
                     objects.empty() ? "" : "; other objects: " + objects, Count(totals.writes, "write"),
                     FormatDuration(took));
}

}  // namespace cnpa
