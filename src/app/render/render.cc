// SPDX-License-Identifier: Apache-2.0
#include "app/render/render.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/output/table.h"
#include "app/render/field_words.h"
#include "app/render/provenance.h"
#include "app/render/repair_words.h"
#include "app/stages/archive.h"
#include "base/text.h"
#include "core/plan/describe.h"

namespace cnpa {
namespace {

constexpr std::size_t kObjectColumn = 40;
constexpr std::size_t kNarrowHang = 6;

std::string Object(const Description& change, const Chain& chain, const std::string& archive_folder) {
  if (change.action == Action::kArchive) return archive_folder + "/" + ArchiveFileName(chain.name, chain.uid);
  return change.object.Text();
}

const char* VerdictWords(Action action, Answer answer) {
  switch (answer) {
    case Answer::kAccepted: return "the server accepts it";
    case Answer::kRefused: return action == Action::kArchive ? "it can't be written" : "the server refuses it";
    case Answer::kOutdated: return "it has changed since it was read; run again";
    case Answer::kNotChecked: return "not checked";
  }
  return "";
}

void Append(Pieces& pieces, const Pieces& more) {
  pieces.insert(pieces.end(), more.begin(), more.end());
}

}  // namespace

std::string Renderer::Line(const Entry& entry) const {
  constexpr std::size_t kWordsColumn = 2 + kObjectColumn + 1;
  const Pieces head{MarkPiece(entry.symbol), {" " + entry.object}};
  const Pieces words{{Paint(entry.whole, false)}};
  return fmt::format("{}",
                     fmt::join(HangAt(head, form_.aligned ? kWordsColumn : 0, {words}, kNarrowHang, form_), "\n"));
}

/// Fields of which the same is to be said are said it of once.
void Renderer::TellFields(const Change& change, Entry& entry) const {
  const std::string head = ActionOf(change) == Action::kWriteStatus ? "status: " : "";
  std::size_t alike = 1;
  for (std::size_t i = 0; i < change.fields.size(); ++i) {
    const Pieces difference = DifferenceOf(change.fields[i]);
    entry.parts.push_back({{i == 0 ? head : "", Tone::kPlain}});
    Append(entry.parts.back(), difference);
    entry.whole.push_back({i == 0 ? head : ", ", Tone::kPlain});
    Append(entry.whole, difference);
    const std::string provenance = ProvenanceWords(change.fields[i], now_);
    const bool last = i + 1 == change.fields.size();
    if (!last && ProvenanceWords(change.fields[i + 1], now_) == provenance) {
      ++alike;
      continue;
    }
    if (!provenance.empty()) {
      const std::string behind = (alike == 1 ? ": " : ": each ") + provenance;
      entry.whole.push_back({behind, Tone::kDim});
      // On a line of its own where it is of several.
      if (alike == 1) entry.parts.back().push_back({behind, Tone::kDim});
      if (alike > 1) entry.parts.push_back({{behind.substr(2), Tone::kDim}});
    }
    alike = 1;
  }
}

Entry Renderer::ChangeEntry(const Chain& chain, const Change& change) const {
  const Description description = Describe(chain, change);
  Entry entry{.symbol = SymbolOf(description.action), .object = Printable(Object(description, chain, archive_folder_))};
  if (description.note.empty()) {
    TellFields(change, entry);
  } else {
    entry.whole.push_back({description.note});
    const std::string provenance = change.fields.empty() ? "" : ProvenanceWords(change.fields.front(), now_);
    if (!provenance.empty()) entry.whole.push_back({": " + provenance, Tone::kDim});
    entry.parts = {entry.whole};
  }
  if (const std::string contest = ContestWords(change); !contest.empty()) {
    entry.whole.push_back({": " + contest, Tone::kPlain});
    if (entry.parts.size() == 1) entry.parts.back().push_back({": " + contest, Tone::kPlain});
    if (entry.parts.size() > 1) entry.parts.push_back({{contest, Tone::kPlain}});
  }
  return entry;
}

std::string Renderer::ChangeLine(const Chain& chain, const Change& change) const {
  return Line(ChangeEntry(chain, change));
}

/// Of several fields the one that is repaired most often: each has a line of its own.
std::string Renderer::ContestWords(const Change& change) const {
  std::optional<Contest> most = change.contested;
  for (const FieldChange& field : change.fields) {
    if (field.contested && (!most || field.contested->count > most->count)) most = field.contested;
  }
  if (!most) return {};
  return fmt::format("contested, {} times in {}", most->count, FormatAge(now_ - most->since));
}

LogFields Renderer::ChangeFields(const Chain& chain, const Change& change) const {
  const Description description = Describe(chain, change);
  LogFields about{.team_space = chain.subject ? "" : chain.name,
                  .object = Object(description, chain, archive_folder_),
                  .reason = std::string(CauseName(change.cause)),
                  .verb = std::string(VerbOf(description.action))};
  // Those of several fields stand in the same order in each list.
  const auto append = [](std::string& list, const std::string& text) { list += (list.empty() ? "" : ", ") + text; };
  const std::vector<FieldChange>& fields = description.fields;
  const auto any = [&fields](auto member) {
    return std::any_of(fields.begin(), fields.end(), [member](const FieldChange& field) { return field.*member; });
  };
  for (const FieldChange& field : fields) {
    append(about.field, field.path);
    if (any(&FieldChange::from)) append(about.from, ValueWords(field.from));
    if (any(&FieldChange::to)) append(about.to, ValueWords(field.to));
  }
  return about;
}

namespace {

Entry PlainEntry(char symbol, const std::string& object, const std::string& words) {
  Entry entry{.symbol = symbol, .object = Printable(object), .whole = {{words}}};
  entry.parts = {entry.whole};
  return entry;
}

}  // namespace

std::optional<Entry> Renderer::VerdictEntry(const Chain& chain, const Change& change, const Verdict& verdict) const {
  if (verdict.answer == Answer::kAccepted) return std::nullopt;
  const Description description = Describe(chain, change);
  Entry entry = PlainEntry(verdict.answer == Answer::kRefused ? '!' : '.', Object(description, chain, archive_folder_),
                           fmt::format("{}: {}", VerdictWords(description.action, verdict.answer), verdict.message));
  entry.remark = true;
  return entry;
}

Entry Renderer::RefusalEntry(const std::string& subject, const Refusal& refusal) const {
  return PlainEntry(refusal.waiting() ? '.' : '!', subject,
                    fmt::format("{}: {}", ReasonName(refusal.reason), refusal.message));
}

std::string Renderer::RefusalLine(const std::string& subject, const Refusal& refusal) const {
  return Line(RefusalEntry(subject, refusal));
}

std::string Renderer::FightLine(const std::string& subject, const std::string& words) const {
  return Line(PlainEntry('!', subject, fmt::format("{}: {}", kContested, words)));
}

std::string Renderer::AlikeLine(Reason reason, const std::vector<std::string>& names) const {
  constexpr std::size_t kMostNames = 3;
  const std::size_t shown = names.size() > kMostNames + 1 ? kMostNames : names.size();
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
  const std::string more = shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "";
  return Line(PlainEntry(Refusal{reason, {}}.waiting() ? '.' : '!', Count(names.size(), "more team space"),
                         fmt::format("{}: {}{}; each in full: cnpa-op explain {}", ReasonName(reason),
                                     fmt::join(names.begin(), end, ", "), more, names.front())));
}

std::string Renderer::FailureLine(const std::string& subject, const Error& error) const {
  return Line(PlainEntry('!', subject, error.message));
}

std::string Renderer::LostRaceLine(const std::string& subject, const Error& error) const {
  return Line(PlainEntry('!', subject, "changed during this pass, the next one tries again (" + error.message + ")"));
}

}  // namespace cnpa
