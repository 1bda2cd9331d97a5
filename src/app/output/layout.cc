// SPDX-License-Identifier: Apache-2.0
#include "app/output/layout.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "app/output/width.h"

namespace cnpa {
namespace {

std::string_view CodeOf(Tone tone) {
  switch (tone) {
    case Tone::kPlain: return "";
    case Tone::kBold: return "1";
    case Tone::kDim: return "2";
    case Tone::kRed: return "31";
    case Tone::kGreen: return "32";
    case Tone::kYellow: return "33";
    case Tone::kBoldRed: return "1;31";
  }
  return "";
}

/// A character with all that Wrap() looks at.
struct Cell {
  std::string_view text;
  std::size_t width = 0;
  Tone tone = Tone::kPlain;

  bool blank() const { return text == " "; }
};

using Cells = std::vector<Cell>;

constexpr std::size_t kLeastRoom = 10;  // However narrow a terminal says it is.
constexpr std::size_t kCommandIndent = 4;
constexpr std::size_t kGap = 2;  // Between a head and the words right behind it.

Cells CellsOf(const Pieces& pieces) {
  Cells cells;
  for (const Piece& piece : pieces) {
    for (const Character& character : Characters(piece.text)) {
      cells.push_back({character.text, character.width, piece.tone});
    }
  }
  return cells;
}

/// Returns whether a line may end in front of cell `i`, which is not the first.
bool MayBreak(const Cells& cells, std::size_t i) {
  if (cells[i].blank() || cells[i - 1].blank()) return true;
  if (cells[i].width == 0) return false;  // A mark belongs to what it stands on.
  return cells[i].width > 1 || cells[i - 1].width > 1;
}

/// Returns how wide the word is that begins at cell `start`.
std::size_t WordWidth(const Cells& cells, std::size_t start) {
  std::size_t width = cells[start].width;
  for (std::size_t i = start + 1; i < cells.size() && !MayBreak(cells, i); ++i) width += cells[i].width;
  return width;
}

/// Returns where the line of `width` columns ends that begins at cell `start`; the next ones have `next_width`.
std::size_t LineEnd(const Cells& cells, std::size_t start, std::size_t width, std::size_t next_width) {
  const std::size_t word = WordWidth(cells, start);
  if (width < next_width && word > width && (word <= next_width || width < 2)) return start;
  std::size_t used = cells[start].width;
  std::size_t last_break = start;
  for (std::size_t i = start + 1; i < cells.size(); ++i) {
    if (MayBreak(cells, i)) last_break = i;
    used += cells[i].width;
    if (used <= width) continue;
    const bool word_fits = last_break > start && WordWidth(cells, last_break) <= next_width;
    return word_fits ? last_break : i;
  }
  return cells.size();
}

Pieces PiecesOf(const Cells& cells, std::size_t start, std::size_t end) {
  while (end > start && cells[end - 1].blank()) --end;
  Pieces pieces;
  for (std::size_t i = start; i < end; ++i) {
    if (pieces.empty() || pieces.back().tone != cells[i].tone) pieces.push_back({"", cells[i].tone});
    pieces.back().text += cells[i].text;
  }
  return pieces;
}

std::size_t WidthOf(const Pieces& pieces) {
  std::size_t width = 0;
  for (const Piece& piece : pieces) width += DisplayWidth(piece.text);
  return width;
}

/// Returns `text` without the last `bytes` of its last piece.
Pieces WithoutEnd(Pieces text, std::size_t bytes) {
  std::string& last = text.back().text;
  last.resize(last.size() - bytes);
  return text;
}

/// Takes the blanks off the end of a line.
void TrimEnd(Pieces& line) {
  while (!line.empty()) {
    std::string& text = line.back().text;
    text.erase(text.find_last_not_of(' ') + 1);
    if (!text.empty()) return;
    line.pop_back();
  }
}

}  // namespace

Piece MarkPiece(char symbol) {
  switch (symbol) {
    case '+': return {"+", Tone::kGreen};
    case '-': return {"-", Tone::kRed};
    case '~': return {"~", Tone::kYellow};
    case '!': return {"!", Tone::kBoldRed};
    case ' ': return {" ", Tone::kPlain};
    default: return {std::string(1, symbol), Tone::kDim};
  }
}

Piece Blanks(std::size_t number) {
  return {std::string(number, ' '), Tone::kPlain};
}

std::string Paint(const Pieces& pieces, bool color) {
  std::string text;
  for (const Piece& piece : pieces) {
    if (!color || piece.tone == Tone::kPlain || piece.text.empty()) {
      text += piece.text;
      continue;
    }
    text.append("\033[").append(CodeOf(piece.tone)).append("m").append(piece.text).append("\033[0m");
  }
  return text;
}

std::vector<Pieces> Wrap(const Pieces& pieces, std::size_t width, std::optional<std::size_t> first_width) {
  const Cells cells = CellsOf(pieces);
  std::vector<Pieces> lines;
  for (std::size_t start = 0; start < cells.size();) {
    const std::size_t end = LineEnd(cells, start, lines.empty() ? first_width.value_or(width) : width, width);
    lines.push_back(PiecesOf(cells, start, end));
    start = end;
    while (start < cells.size() && cells[start].blank()) ++start;
  }
  if (lines.empty()) lines.emplace_back();
  return lines;
}

std::string_view WayOut(std::string_view words) {
  constexpr std::array<std::string_view, 6> kPrograms{"cnpa-op ", "kubectl ", "chmod ",
                                                      "chown ",   "mkdir ",   "systemctl "};
  constexpr std::string_view kBefore = ": ";
  for (std::size_t start = 0;; start += kBefore.size()) {
    const std::string_view rest = words.substr(start);
    const bool begins =
        std::any_of(kPrograms.begin(), kPrograms.end(), [rest](auto program) { return rest.starts_with(program); });
    // With prose behind it, it can't be copied as one.
    if (begins && !Contains(rest, ", ") && !Contains(rest, "; ")) return rest;
    start = words.find(kBefore, start);
    if (start == std::string_view::npos) return {};
  }
}

std::vector<std::string> Hang(const Pieces& head, const Pieces& text, std::size_t hang, const ViewForm& form) {
  const std::size_t columns = form.columns.value_or(std::numeric_limits<std::size_t>::max());
  const std::size_t room = std::max(columns > hang ? columns - hang : 0, kLeastRoom);
  const std::size_t head_width = WidthOf(head);
  const std::size_t first_room = std::min(columns > head_width ? columns - head_width : 0, room);
  std::vector<Pieces> wrapped = Wrap(text, room, first_room);
  const std::string_view command = text.empty() ? std::string_view() : WayOut(text.back().text);
  const bool apart = wrapped.size() > 1 && !command.empty();
  if (apart) wrapped = Wrap(WithoutEnd(text, command.size()), room, first_room);
  Pieces line = head;
  std::vector<std::string> lines;
  for (Pieces& words : wrapped) {
    if (words.empty()) TrimEnd(line);
    line.insert(line.end(), words.begin(), words.end());
    if (!line.empty() || !apart) lines.push_back(Paint(line, form.color));
    line = {Blanks(hang)};
  }
  if (apart) lines.push_back(Paint({Blanks(kCommandIndent), {command, text.back().tone}}, form.color));
  return lines;
}

std::vector<std::string> HangAt(const Pieces& head, std::size_t column, const std::vector<Pieces>& parts,
                                std::size_t hang, const ViewForm& form) {
  const auto put = [&](std::size_t gap, std::size_t indent, std::vector<std::string> lines, Pieces before) {
    before.push_back(Blanks(gap));
    for (const Pieces& part : parts) {
      for (std::string& line : Hang(before, part, indent, form)) lines.push_back(std::move(line));
      before = {Blanks(indent)};
    }
    return lines;
  };
  const std::size_t width = WidthOf(head);
  if (!form.columns) return put(column > width ? column - width : 1, column, {}, head);
  if (width > *form.columns) return put(hang, hang, Hang({}, head, hang, form), {});
  std::vector<std::string> below = put(kGap, hang, {}, head);
  if (width >= column) return below;
  std::vector<std::string> beside = put(column - width, column, {}, head);
  return below.size() < beside.size() ? below : beside;
}

}  // namespace cnpa
