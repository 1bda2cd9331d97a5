// SPDX-License-Identifier: Apache-2.0
#include "app/render/plan_view.h"

#include <algorithm>

#include "app/output/page.h"
#include "app/output/table.h"
#include "app/output/width.h"

namespace cnpa {
namespace {

constexpr std::size_t kGap = 3;            // Between an object and its words.
constexpr std::size_t kWidestColumn = 60;  // Of objects: a wider one moves its own words only.
constexpr std::size_t kLeastWords = 32;    // With fewer columns for them, words stand below their object.

/// What is shown of one team space.
struct Group {
  std::string heading;
  std::vector<Entry> entries;
};

std::string Heading(const Chain& chain) {
  const char* state = chain.deleting ? " (being deleted)" : chain.turn == Turn::kNew ? " (new)" : "";
  return SubjectOf(chain).kind + " " + chain.name + state;
}

Group GroupOf(const Chain& chain, const std::vector<Verdict>* verdicts, const Renderer& renderer) {
  Group group{Heading(chain), {}};
  for (std::size_t i = 0; i < chain.changes.size(); ++i) {
    group.entries.push_back(renderer.ChangeEntry(chain, chain.changes[i]));
    if (verdicts == nullptr) continue;
    if (auto entry = renderer.VerdictEntry(chain, chain.changes[i], (*verdicts)[i])) {
      group.entries.push_back(*std::move(entry));
    }
  }
  if (chain.refusal) group.entries.push_back(renderer.RefusalEntry(SubjectOf(chain).Text(), *chain.refusal));
  return group;
}

std::vector<Group> GroupsOf(const Plan& plan, const Verdicts* verdicts, const Renderer& renderer) {
  std::vector<Group> groups;
  groups.reserve(plan.chains.size());
  for (std::size_t i = 0; i < plan.chains.size(); ++i) {
    groups.push_back(GroupOf(plan.chains[i], verdicts != nullptr ? &(*verdicts)[i] : nullptr, renderer));
  }
  return groups;
}

/// Returns the width of the column of objects: that of the widest one that is not wider than `most`.
std::size_t ObjectColumn(const std::vector<Group>& groups, std::size_t most) {
  std::size_t column = 0;
  for (const Group& group : groups) {
    for (const Entry& entry : group.entries) {
      const std::size_t width = DisplayWidth(entry.object);
      if (width <= most) column = std::max(column, width);
    }
  }
  return column;
}

/// Returns a change as one whole line.
std::string WholeLine(const Entry& entry, std::size_t column, bool color) {
  const std::size_t width = DisplayWidth(entry.object);
  Pieces line{MarkPiece(entry.symbol),
              {" " + entry.object, Tone::kPlain},
              Blanks((column > width ? column - width : 0) + kGap)};
  line.insert(line.end(), entry.whole.begin(), entry.whole.end());
  return Paint(line, color);
}

/// Lays groups out for a terminal.
class TerminalView {
 public:
  TerminalView(const std::vector<Group>& groups, const ViewForm& form) : page_(form) {
    // Where each team space has but one line, that line names it.
    grouped_ = std::any_of(groups.begin(), groups.end(), [](const Group& group) { return group.entries.size() > 1; });
    indent_ = grouped_ ? 2 : 0;
    const std::size_t others = indent_ + 2 + kGap + kLeastWords;
    const std::size_t columns = form.columns.value_or(0);
    column_ = ObjectColumn(groups, columns > others ? std::min(columns - others, kWidestColumn) : 0);
  }

  void Put(const Group& group) {
    if (grouped_) page_.PutBold(group.heading);
    for (const Entry& entry : group.entries) entry.remark ? PutRemark(entry) : PutChange(entry);
  }

  void PutSummary(const std::string& summary) { page_.Put(summary); }

  std::vector<std::string> TakeLines() { return page_.TakeLines(); }

 private:
  void PutChange(const Entry& entry) {
    const Pieces head{Blanks(indent_), MarkPiece(entry.symbol), {" " + entry.object}};
    page_.Put(HangAt(head, indent_ + 2 + column_ + kGap, entry.parts, indent_ + 6, page_.form()));
  }

  /// Puts what is said of the change above.
  void PutRemark(const Entry& entry) {
    page_.Put({Blanks(indent_ + 4), MarkPiece(entry.symbol), Blanks(1)}, entry.whole, indent_ + 6);
  }

  Page page_;
  bool grouped_ = false;
  std::size_t indent_ = 0;
  std::size_t column_ = 0;  ///< Width of the column of objects.
};

}  // namespace

std::vector<std::string> PlanLines(const Plan& plan, const Verdicts* verdicts, const Renderer& renderer,
                                   const ViewForm& form) {
  const std::vector<Group> groups = GroupsOf(plan, verdicts, renderer);
  const std::string summary =
      PlanSummary(plan) + (verdicts != nullptr ? VerdictSummary(CountVerdicts(plan, *verdicts)) : "");
  if (form.columns) {
    TerminalView view(groups, form);
    for (const Group& group : groups) view.Put(group);
    view.PutSummary(summary);
    return view.TakeLines();
  }
  const std::size_t column = ObjectColumn(groups, kWidestColumn);
  std::vector<std::string> lines;
  for (const Group& group : groups) {
    for (const Entry& entry : group.entries) lines.push_back(WholeLine(entry, column, form.color));
  }
  lines.push_back(summary);
  return lines;
}

}  // namespace cnpa
