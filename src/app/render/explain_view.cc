// SPDX-License-Identifier: Apache-2.0
#include "app/render/explain_view.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "app/output/page.h"
#include "app/output/table.h"
#include "app/output/width.h"
#include "app/render/render.h"
#include "base/text.h"

namespace cnpa {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastRoom = 24;     // With fewer columns for them, words stand on a line of their own.
constexpr std::size_t kMostArchives = 10;  // That are told one by one.

std::string Age(const std::string& then, Time now) {
  const Result<Time> time = ParseTime(then);
  return time ? FormatAge(std::max(now - *time, std::chrono::seconds(0))) : "?";
}

std::string ObjectText(const ObjectFinding& object) {
  return object.namespace_name.empty() ? fmt::format("{}/{}", object.kind, object.name)
                                       : fmt::format("{}/{}/{}", object.kind, object.namespace_name, object.name);
}

std::string ChangesText(const Explanation& explanation) {
  return Count(explanation.chain ? explanation.chain->changes.size() : 0, "change");
}

/// Returns the first sentences: how it stands, and what a pass makes of it.
std::string StandingText(const Explanation& explanation) {
  const std::string name = "TeamSpace " + explanation.name;
  switch (explanation.standing) {
    case Standing::kUnknown: return {};  // An error, which is no part of the view.
    case Standing::kInSync: return fmt::format("{} is in sync: a pass changes nothing.", name);
    case Standing::kNew: return fmt::format("{} is new: the next pass makes {}.", name, ChangesText(explanation));
    case Standing::kOutOfSync: {
      const std::optional<std::int64_t>& observed = explanation.chain->observed_status.observed_generation;
      const bool behind = observed && *observed < explanation.chain->generation;
      const std::string changed = behind ? fmt::format(" Its spec was changed: generation {} is there, {} was applied.",
                                                       explanation.chain->generation, *observed)
                                         : "";
      return fmt::format("{} is not in sync: the next pass makes {}.{}", name, ChangesText(explanation), changed);
    }
    case Standing::kRefused:
      if (!explanation.told) return fmt::format("{} is refused, until somebody acts:", name);
      return fmt::format("{} is refused by the server ({}, {} ago); the next pass tries again:", name,
                         explanation.told->reason,
                         Age(explanation.told->last_transition_time, explanation.observed_at));
    case Standing::kWaiting: return fmt::format("{} waits for the end of its old namespace:", name);
    case Standing::kDeleting: {
      const bool refused = explanation.chain && explanation.chain->refusal;
      const bool to_do = explanation.chain && !explanation.chain->changes.empty();
      const char* next = refused                     ? "cnpa-op does nothing about it:"
                         : to_do                     ? "the next pass archives it and lets it go."
                         : explanation.holds.empty() ? "nothing is left for cnpa-op to do."
                                                     : "nothing is left for cnpa-op to do, others hold it:";
      const std::string since = explanation.objects.empty()
                                    ? ""
                                    : ", for " + Age(explanation.objects.front().deleted, explanation.observed_at);
      return fmt::format("{} is being deleted{}: {}", name, since, next);
    }
  }
  return {};
}

void PutStanding(const Explanation& explanation, const std::string& archive_folder, Page& page) {
  const Time now = explanation.observed_at;
  if (explanation.standing != Standing::kUnknown) page.PutBold(StandingText(explanation));
  const bool told_first = explanation.told && explanation.standing == Standing::kRefused;
  if (told_first) page.PutMarked('!', explanation.told->message);
  if (explanation.chain) {
    const Renderer renderer(now, {}, archive_folder);
    const Chain& chain = *explanation.chain;
    if (chain.refusal) {
      page.PutMarked(chain.refusal->waiting() ? '.' : '!',
                     fmt::format("{}: {}", ReasonName(chain.refusal->reason), chain.refusal->message));
    }
    for (const Change& change : chain.changes) {
      const Entry entry = renderer.ChangeEntry(chain, change);
      page.PutMarked(entry.symbol, entry.object, entry.whole);
    }
  }
  if (explanation.told && !told_first) {
    page.PutMarked('!', fmt::format("The last pass that tried said {}, {} ago: {}", explanation.told->reason,
                                    Age(explanation.told->last_transition_time, now), explanation.told->message));
  }
  for (const Hold& hold : explanation.holds) {
    const std::string cause = hold.message.empty()
                                  ? fmt::format("the finalizer {}: whoever put it on must take it off", hold.cause)
                                  : fmt::format("{}: {}", hold.cause, hold.message);
    page.PutMarked('.', fmt::format("{}/{} is held by {}", hold.kind, hold.name, cause));
  }
}

/// A field in the words of the table.
struct Row {
  char mark = ' ';
  std::string field;
  std::string found;
  std::string wanted;
  std::string set_by;
};

std::string FieldText(const std::string& path) {
  if (path == LabelPath()) return "label";
  if (path == kOwnersPath) return "owner";
  if (path == kFinalizersPath) return "finalizer";
  if (path == kScopesPath) return "scopes";
  if (path.starts_with(kReadyConditionPath)) return "Ready" + path.substr(kReadyConditionPath.size());
  for (const std::string_view before : {kHardPath, std::string_view("status.")}) {
    if (path.starts_with(before)) return path.substr(before.size());
  }
  return path;
}

std::string ValueText(const FieldFinding& field, const std::optional<std::string>& value, const std::string& uid) {
  if (!value) return "none";
  if (field.path == kFinalizersPath) return "on";
  if (field.path == kOwnersPath && *value == uid) return "this TeamSpace";
  return *value;
}

std::string SetByText(const FieldFinding& field, Time now) {
  if (field.absence) return field.absence->removed ? "removed, by whom is not known" : "";
  if (!field.writer) return "";
  std::string text = field.writer->manager;
  if (field.writer->operation == "Apply") text += " (server-side apply)";
  if (!field.writer->time) return text;
  return fmt::format("{}, {} ago", text, FormatAge(std::max(now - *field.writer->time, std::chrono::seconds(0))));
}

char MarkOf(const FieldFinding& field) {
  if (!field.differs) return ' ';
  return !field.found ? '+' : !field.wanted ? '-' : '~';
}

Row RowOf(const FieldFinding& field, const std::string& uid, Time now) {
  Row row{.mark = MarkOf(field),
          .field = FieldText(field.path),
          .found = ValueText(field, field.found, uid),
          .wanted = field.differs  ? ValueText(field, field.wanted, uid)
                    : field.wanted ? "="
                                   : "",
          .set_by = SetByText(field, now)};
  if (field.found && !field.used.empty()) row.found += fmt::format(" ({} used)", field.used);
  // All of it may be from outside, and columns are measured by it.
  for (std::string* text : {&row.field, &row.found, &row.wanted, &row.set_by}) *text = Printable(*text);
  return row;
}

std::string PresenceText(const ObjectFinding& object, bool made, Time now) {
  const std::string age = object.created.empty() ? "" : fmt::format(", made {} ago", Age(object.created, now));
  switch (object.presence) {
    case Presence::kThere: return age.empty() ? "there" : age.substr(2);
    case Presence::kMissing: return made ? "is not there, the next pass makes it" : "is not there";
    case Presence::kForeign: return "is not ours, nothing in it is touched" + age;
    case Presence::kDeleting:
      return fmt::format("is being deleted{}{}", object.deleted.empty() ? "" : ", for " + Age(object.deleted, now),
                         age);
  }
  return {};
}

/// All objects as one table, so that columns stand below each other.
class Table {
 public:
  Table(const Explanation& explanation, Page& page) : explanation_(explanation), page_(page) {
    const std::string uid = explanation.objects.front().uid;
    for (const ObjectFinding& object : explanation.objects) {
      std::vector<Row>& rows = rows_.emplace_back();
      for (const FieldFinding& field : object.fields) {
        if (!field.differs && !field.found && !field.wanted) continue;
        rows.push_back(RowOf(field, uid, explanation.observed_at));
        Widen(rows.back());
      }
    }
  }

  void Put() {
    const bool any = std::any_of(rows_.begin(), rows_.end(), [](const auto& rows) { return !rows.empty(); });
    if (any) Widen(kHead);
    if (any) PutRow(kHead);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const ObjectFinding& object = explanation_.objects[i];
      const bool made = std::any_of(object.fields.begin(), object.fields.end(),
                                    [](const FieldFinding& field) { return field.differs; });
      const std::string name = ObjectText(object);
      page_.Put({{name, Tone::kBold}, Blanks(kGap)},
                {{PresenceText(object, made, explanation_.observed_at), Tone::kPlain}}, 4);
      for (const Row& row : rows_[i]) PutRow(row);
    }
  }

 private:
  void Widen(const Row& row) {
    field_ = std::max(field_, DisplayWidth(row.field));
    found_ = std::max(found_, DisplayWidth(row.found));
    wanted_ = std::max(wanted_, DisplayWidth(row.wanted));
  }

  static std::string Padded(const std::string& text, std::size_t width) {
    const std::size_t used = DisplayWidth(text);
    return text + std::string((width > used ? width - used : 0) + kGap, ' ');
  }

  void PutRow(const Row& row) {
    const std::string cells = Padded(row.field, field_) + Padded(row.found, found_) + Padded(row.wanted, wanted_);
    const std::size_t before = 2 + 2 + DisplayWidth(cells);
    const Pieces head{MarkPiece(row.mark), Blanks(3), {cells, Tone::kPlain}};
    const std::optional<std::size_t>& columns = page_.form().columns;
    const bool fits = !columns || before + std::min(DisplayWidth(row.set_by), kLeastRoom) <= *columns;
    if (fits) return page_.Put(head, {{row.set_by, Tone::kPlain}}, before);
    page_.Put(head, {}, before);
    page_.Put({Blanks(6)}, {{row.set_by.empty() ? "" : "by " + row.set_by, Tone::kPlain}}, 6);
  }

  inline static const Row kHead{' ', "FIELD", "FOUND", "WANTED", "SET BY"};

  const Explanation& explanation_;
  Page& page_;
  std::vector<std::vector<Row>> rows_;
  std::size_t field_ = 0;
  std::size_t found_ = 0;
  std::size_t wanted_ = 0;
};

void PutArchives(const ArchiveSearch& archives, const std::string& name, Page& page) {
  if (!archives.problem.empty()) return page.Put("Archives of " + name + ": nobody can say, " + archives.problem);
  if (archives.folder.empty()) return page.Put("Archives of " + name + ": no folder is given, see --archive");
  if (archives.files.empty()) return page.Put("Archives of " + name + ": none in " + archives.folder);
  page.Put("Archives of " + name + " in " + archives.folder + ":");
  for (std::size_t i = 0; i < std::min(archives.files.size(), kMostArchives); ++i) {
    const ArchiveFile& file = archives.files[i];
    page.Put(file.problem.empty()
                 ? fmt::format("{}  archived {}, uid {}", file.file, file.record.archived_at, file.record.uid)
                 : fmt::format("{}  can't be read: {}", file.file, file.problem),
             2);
  }
  if (archives.files.size() > kMostArchives) {
    page.Put(fmt::format("and {} earlier ones", archives.files.size() - kMostArchives), 2);
  }
}

}  // namespace

std::vector<std::string> ExplanationLines(const Explanation& explanation, const ArchiveSearch& archives,
                                          const ViewForm& form) {
  Page page(form);
  PutStanding(explanation, archives.folder, page);
  if (!explanation.objects.empty()) {
    page.Put("");
    Table(explanation, page).Put();
  }
  page.Put("");
  PutArchives(archives, explanation.name, page);
  std::vector<std::string> lines = page.TakeLines();
  if (lines.front().empty()) lines.erase(lines.begin());
  return lines;
}

}  // namespace cnpa
