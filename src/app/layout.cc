// SPDX-License-Identifier: Apache-2.0
#include "app/layout.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "app/table.h"

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

std::vector<std::string> Hang(const Pieces& head, const Pieces& text, std::size_t hang, const ViewForm& form) {
  std::size_t head_width = 0;
  for (const Piece& piece : head) head_width += DisplayWidth(piece.text);
  const std::size_t columns = form.columns.value_or(std::numeric_limits<std::size_t>::max());
  const std::size_t room = std::max(columns > hang ? columns - hang : 0, kLeastRoom);
  const std::size_t first_room = std::min(columns > head_width ? columns - head_width : 0, room);
  Pieces line = head;
  std::vector<std::string> lines;
  for (Pieces& words : Wrap(text, room, first_room)) {
    if (words.empty()) TrimEnd(line);
    line.insert(line.end(), words.begin(), words.end());
    lines.push_back(Paint(line, form.color));
    line = {Blanks(hang)};
  }
  return lines;
}

}  // namespace cnpa
