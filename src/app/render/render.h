// SPDX-License-Identifier: Apache-2.0
//
// The words for a plan and for what became of it: one line an effect, with its reason. --diff and a real pass
// share them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/output/layout.h"
#include "app/output/log.h"
#include "app/stages/report.h"
#include "core/plan/change.h"
#include "core/teamspace/verdict.h"

namespace cnpa {

/// What is to be said of one thing, before it is laid out as a line or as several.
struct Entry {
  char symbol = '~';
  std::string object;         ///< Printable.
  Pieces whole;               ///< All that is said, for one line.
  std::vector<Pieces> parts;  ///< The same for a line each: of a change of several fields, one for each.
  bool remark = false;        ///< It is said of the entry in front of it.
};

class Renderer {
 public:
  /// `now` is what ages are counted from. Lines are made for `form`; of colours they have those of the symbols.
  Renderer(Time now, ViewForm form, std::string archive_folder)
      : now_(now), form_(form), archive_folder_(std::move(archive_folder)) {}

  // Each of these is one line, or on a terminal several, between which there is a line feed.

  /// Returns "~ ResourceQuota/team-red/team-quota  pods 99 -> 6: was changed by kubectl-patch, 3s ago", with
  /// ": contested, 7 times in 25s" behind it where that is so.
  std::string ChangeLine(const Chain& chain, const Change& change) const;

  /// Returns what ChangeLine() is about.
  LogFields ChangeFields(const Chain& chain, const Change& change) const;

  /// The same before it is laid out, and likewise what the server says to a change, unless that is yes, and that a team
  /// space is refused.
  Entry ChangeEntry(const Chain& chain, const Change& change) const;
  std::optional<Entry> VerdictEntry(const Chain& chain, const Change& change, const Verdict& verdict) const;
  Entry RefusalEntry(const std::string& subject, const Refusal& refusal) const;

  // `subject` is what it is about: "TeamSpace/red".

  /// Returns "! TeamSpace/red  NamespaceConflict: ...", or the same with "." for one that only waits.
  std::string RefusalLine(const std::string& subject, const Refusal& refusal) const;

  /// Returns "! 30 more team spaces  NamespaceConflict: blue, green, red and 27 more; ...", for those that are refused
  /// for the same reason as the one before. Requires: there are any.
  std::string AlikeLine(Reason reason, const std::vector<std::string>& names) const;

  /// Returns "! TeamSpace/red  Contested: ...".
  std::string FightLine(const std::string& subject, const std::string& words) const;

  /// Returns "! TeamSpace/red  ..." for a change that failed without being a state of the team space.
  std::string FailureLine(const std::string& subject, const Error& error) const;

  /// Returns "! TeamSpace/red  changed during this pass, ...". The server words such an answer as if we had erred.
  std::string LostRaceLine(const std::string& subject, const Error& error) const;

 private:
  std::string Line(const Entry& entry) const;
  void TellFields(const Change& change, Entry& entry) const;
  std::string ContestWords(const Change& change) const;

  Time now_;
  ViewForm form_;
  std::string archive_folder_;
};

/// Returns "Plan: 2 to create, 1 to change, 1 to release, 1 refused." or "No differences.".
std::string PlanSummary(const Plan& plan);

/// Returns " The server accepts 2, refuses 1; 1 not checked.", to stand behind it; nothing where there was nothing to
/// ask.
std::string VerdictSummary(const VerdictCounts& counts);

/// Returns "5 team spaces in sync", or "5 team spaces: 1 refused, 1 waiting".
std::string StateSummary(const Totals& totals);

/// Returns "5 team spaces: 3 changed, 1 deleted, 1 refused; 9 writes in 41 ms".
std::string TotalsLine(const Totals& totals, std::chrono::milliseconds took);

}  // namespace cnpa
