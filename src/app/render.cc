// SPDX-License-Identifier: Apache-2.0
#include "app/render.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "app/archive.h"
#include "app/provenance.h"
#include "app/repair_words.h"
#include "base/overloaded.h"

namespace cnpa {
namespace {

constexpr std::size_t kObjectColumn = 40;

std::string QuotaObject(const std::string& space) {
  return fmt::format("ResourceQuota/{}/{}", space, kQuotaName);
}

char Symbol(const Change& change) {
  return std::visit(Overloaded{[](const CreateNamespace&) { return '+'; }, [](const CreateQuota&) { return '+'; },
                               [](const WriteArchive&) { return '+'; }, [](const DeleteQuota&) { return '-'; },
                               [](const RemoveFinalizer&) { return '-'; }, [](const auto&) { return '~'; }},
                    change.effect);
}

std::string Object(const Chain& chain, const Change& change, const std::string& archive_folder) {
  return std::visit(Overloaded{[](const CreateNamespace& effect) { return "Namespace/" + effect.name; },
                               [](const RepairNamespace& effect) { return "Namespace/" + effect.name; },
                               [](const CreateQuota& effect) { return QuotaObject(effect.namespace_name); },
                               [](const RepairQuota& effect) { return QuotaObject(effect.namespace_name); },
                               [](const DeleteQuota& effect) { return QuotaObject(effect.namespace_name); },
                               [&](const WriteArchive& effect) {
                                 return archive_folder + "/" + ArchiveFileName(effect.name, effect.uid);
                               },
                               [&](const auto&) { return "TeamSpace/" + chain.name; }},
                    change.effect);
}

/// The path as people say it: "pods" says it all where the object is a quota.
std::string ShortPath(std::string_view path) {
  constexpr std::string_view kLabels = "metadata.labels['";
  constexpr std::string_view kReady = "status.conditions['Ready']";
  if (path == "metadata.ownerReferences") return "ownerReference";
  if (path.starts_with(kLabels))
    return fmt::format("label {}", path.substr(kLabels.size(), path.size() - kLabels.size() - 2));
  if (path.starts_with(kReady)) return fmt::format("Ready{}", path.substr(kReady.size()));
  for (const std::string_view before : {std::string_view("spec.hard."), std::string_view("status.")}) {
    if (path.starts_with(before)) return std::string(path.substr(before.size()));
  }
  return std::string(path);
}

const char* VerdictWords(const Change& change, Answer answer) {
  switch (answer) {
    case Answer::kAccepted: return "the server accepts it";
    case Answer::kRefused:
      return std::holds_alternative<WriteArchive>(change.effect) ? "it can't be written" : "the server refuses it";
    case Answer::kOutdated: return "it has changed meanwhile, look again";
    case Answer::kNotChecked: return "not checked";
  }
  return "";
}

std::string Value(const std::optional<std::string>& value) {
  return value ? *value : "none";
}

}  // namespace

std::string Difference(const FieldChange& field) {
  return fmt::format("{} {} -> {}", ShortPath(field.path), Value(field.from), Value(field.to));
}

std::string Renderer::Line(char symbol, const std::string& object, const std::string& words) const {
  std::string mark(1, symbol);
  if (color_) {
    const char* code = symbol == '+'   ? "32"
                       : symbol == '-' ? "31"
                       : symbol == '!' ? "1;31"
                       : symbol == '~' ? "33"
                                       : "2";
    mark = fmt::format("\033[{}m{}\033[0m", code, symbol);
  }
  return fmt::format("{} {:<{}} {}", mark, Printable(object), kObjectColumn, Printable(words));
}

/// Fields of which the same is to be said are said it of once.
std::string Renderer::Fields(const Change& change) const {
  std::string text;
  std::size_t alike = 1;
  for (std::size_t i = 0; i < change.fields.size(); ++i) {
    const FieldChange& field = change.fields[i];
    text += (i == 0 ? "" : ", ") + Difference(field);
    const std::string provenance = ProvenanceWords(field, now_);
    const bool last = i + 1 == change.fields.size();
    if (!last && ProvenanceWords(change.fields[i + 1], now_) == provenance) {
      ++alike;
      continue;
    }
    if (!provenance.empty()) text += (alike == 1 ? ": " : ": each ") + provenance;
    alike = 1;
  }
  return text;
}

std::string Renderer::Words(const Chain& chain, const Change& change) const {
  const std::string fields = Fields(change);
  const std::string provenance = change.fields.empty() ? "" : ProvenanceWords(change.fields.front(), now_);
  const std::string behind = provenance.empty() ? "" : ": " + provenance;
  return std::visit(
      Overloaded{[&](const AddFinalizer&) { return fmt::format("finalizer {} put on{}", kFinalizer, behind); },
                 [](const RemoveFinalizer&) { return fmt::format("finalizer {} taken off", kFinalizer); },
                 [&](const CreateNamespace&) { return fmt::format("TeamSpace {} has none", chain.name); },
                 [](const CreateQuota& effect) {
                   std::string hard;
                   for (const auto& [key, value] : effect.hard) {
                     hard += fmt::format("{}{} {}", hard.empty() ? "" : ", ", key, value);
                   }
                   return hard;
                 },
                 [&](const DeleteQuota&) { return "has scopes, which narrow it and can't be changed" + behind; },
                 [&](const WriteArchive&) { return fmt::format("archive of TeamSpace {}", chain.name); },
                 [&](const WriteStatus&) { return "status: " + fields; }, [&](const auto&) { return fields; }},
      change.effect);
}

std::string Renderer::ChangeLine(const Chain& chain, const Change& change) const {
  return Line(Symbol(change), Object(chain, change, archive_folder_), Words(chain, change) + ContestWords(change));
}

/// Of several fields the one that is repaired most often: each has a line of its own.
std::string Renderer::ContestWords(const Change& change) const {
  std::optional<Contest> most = change.contested;
  for (const FieldChange& field : change.fields) {
    if (field.contested && (!most || field.contested->count > most->count)) most = field.contested;
  }
  if (!most) return {};
  return fmt::format(": contested, {} times in {}", most->count, FormatAge(now_ - most->since));
}

LogFields Renderer::ChangeFields(const Chain& chain, const Change& change) const {
  return {.team_space = chain.name,
          .object = Object(chain, change, archive_folder_),
          .reason = std::string(CauseName(change.cause))};
}

std::optional<std::string> Renderer::VerdictLine(const Chain& chain, const Change& change,
                                                 const Verdict& verdict) const {
  if (verdict.answer == Answer::kAccepted) return std::nullopt;
  return Line(verdict.answer == Answer::kRefused ? '!' : '.', Object(chain, change, archive_folder_),
              fmt::format("{}: {}", VerdictWords(change, verdict.answer), verdict.message));
}

std::string Renderer::RefusalLine(const std::string& team_space, const Refusal& refusal) const {
  return Line(refusal.waiting() ? '.' : '!', "TeamSpace/" + team_space,
              fmt::format("{}: {}", ReasonName(refusal.reason), refusal.message));
}

std::string Renderer::FightLine(const std::string& team_space, const std::string& words) const {
  return Line('!', "TeamSpace/" + team_space, fmt::format("{}: {}", kContested, words));
}

std::string Renderer::FailureLine(const std::string& team_space, const Error& error) const {
  return Line('!', "TeamSpace/" + team_space, error.message);
}

std::string Count(std::size_t number, const std::string& noun) {
  const char* ending = number == 1 ? "" : noun.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", number, noun, ending);
}

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
  const std::string unknown = JoinCounts({{counts.not_checked, "not checked"}, {counts.outdated, "changed meanwhile"}});
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
  return fmt::format("{}: {}; {} in {}", Count(totals.team_spaces, "team space"), counts.empty() ? "in sync" : counts,
                     Count(totals.writes, "write"), FormatDuration(took));
}

}  // namespace cnpa
