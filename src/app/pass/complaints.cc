// SPDX-License-Identifier: Apache-2.0
#include "app/pass/complaints.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace cnpa {
namespace {

constexpr std::size_t kMostLines = 20;
constexpr std::size_t kMostAlike = 5;  // That have a line each.

/// One missing permission, or one CRD that is being deleted, affects every team space in the same words.
bool IsGeneral(Reason reason) {
  return reason == Reason::kForbidden || reason == Reason::kCrdDeleting || reason == Reason::kCrdUnfit;
}

/// Writes the first ones of `entries`, and how many there are more.
void TellFirst(const std::vector<LogEntry>& entries, const Log& log) {
  const std::size_t shown = std::min(entries.size(), kMostLines);
  for (std::size_t i = 0; i < shown; ++i) log.Write(entries[i]);
  if (shown == entries.size()) return;
  const std::string rest = fmt::format("! and {} more like these", entries.size() - shown);
  log.Write({.level = LogLevel::kWarn, .text = rest, .trouble = {}, .fields = {}});
}

LogFields FieldsFor(const Chain& chain, const std::string& reason) {
  return {.team_space = chain.subject ? "" : chain.name, .object = SubjectOf(chain).Text(), .reason = reason};
}

}  // namespace

void Complaints::Add(const Chain& chain, const ChainReport& report, const Renderer& renderer, bool quiet_races) {
  if (report.refusal) {
    AddRefusal(chain, *report.refusal, renderer);
    return;
  }
  const bool lost_race = report.end == ChainEnd::kLostRace;
  if (report.end == ChainEnd::kFailed || (lost_race && !quiet_races)) {
    Add({.level = LogLevel::kWarn,
         .text = lost_race ? renderer.LostRaceLine(SubjectOf(chain).Text(), report.error)
                           : renderer.FailureLine(SubjectOf(chain).Text(), report.error),
         .trouble = SubjectOf(chain).Text() + ": a request fails",
         .fields = FieldsFor(chain, {})});
  }
}

void Complaints::Add(LogEntry entry) {
  complaints_.push_back({std::move(entry), std::nullopt});
}

void Complaints::AddRefusal(const Chain& chain, const Refusal& refusal, const Renderer& renderer) {
  const bool general = IsGeneral(refusal.reason);
  if (general && !said_.insert(refusal.message).second) return;
  const std::string reason(ReasonName(refusal.reason));
  LogEntry entry{.level = refusal.waiting() ? LogLevel::kInfo : LogLevel::kWarn,
                 .text = renderer.RefusalLine(SubjectOf(chain).Text(), refusal),
                 .trouble = SubjectOf(chain).Text() + ": " + reason,
                 .fields = FieldsFor(chain, reason)};
  if (!general) return complaints_.push_back({std::move(entry), refusal.reason});
  // What hits every team space alike is one problem of none of them, whichever comes first.
  entry.trouble = fmt::format("{}: {}", reason, refusal.message);
  entry.fields = {.team_space = {}, .object = {}, .reason = reason};
  complaints_.push_back({std::move(entry), std::nullopt});
}

void Complaints::TellEach(const Log& log) const {
  for (const Complaint& complaint : complaints_) log.Write(complaint.entry);
}

/// Returns the other team spaces that are refused for the same reason, in order.
std::vector<std::string> Complaints::OthersOf(const Complaint& complaint) const {
  std::vector<std::string> names;
  for (const Complaint& other : complaints_) {
    if (other.reason == complaint.reason && &other != &complaint) names.push_back(other.entry.fields.team_space);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void Complaints::TellAlike(const Log& log, const Renderer& renderer) const {
  std::vector<LogEntry> entries;
  std::set<Reason> told;
  for (const Complaint& complaint : complaints_) {
    if (complaint.reason && told.contains(*complaint.reason)) continue;
    entries.push_back(complaint.entry);
    if (!complaint.reason) continue;
    const std::vector<std::string> others = OthersOf(complaint);
    if (others.size() < kMostAlike) continue;
    told.insert(*complaint.reason);
    entries.push_back({.level = complaint.entry.level,
                       .text = renderer.AlikeLine(*complaint.reason, others),
                       .trouble = {},
                       .fields = {.team_space = {}, .object = {}, .reason = complaint.entry.fields.reason}});
  }
  TellFirst(entries, log);
}

}  // namespace cnpa
