// SPDX-License-Identifier: Apache-2.0
#include "app/output/table.h"

#include <algorithm>
#include <clocale>
#include <cwchar>
#include <numeric>

#include "base/text.h"

namespace cnpa {
namespace {

constexpr std::size_t kWidestGap = 3;

/// A locale with Unicode's tables, whatever the user's is; made once.
locale_t UnicodeLocale() {
  static const locale_t kLocale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return kLocale;
}

/// Calls `each` with every character of `text` and its width.
template <typename Each>
void EachCharacter(std::string_view text, const Each& each) {
  const locale_t before = ::uselocale(UnicodeLocale() != nullptr ? UnicodeLocale() : nullptr);
  std::mbstate_t state{};
  while (!text.empty()) {
    wchar_t character = 0;
    std::size_t size = std::mbrtowc(&character, text.data(), text.size(), &state);
    std::size_t width = 1;
    if (size == 0 || size > text.size()) {
      state = {};
      size = 1;
    } else {
      width = static_cast<std::size_t>(std::max(0, ::wcwidth(character)));
    }
    each(text.substr(0, size), width);
    text.remove_prefix(size);
  }
  ::uselocale(before);
}

/// Returns how many blanks there may be between columns.
std::size_t GapFor(const std::vector<std::size_t>& widths, std::optional<std::size_t> columns) {
  if (!columns || widths.size() < 2) return kWidestGap;
  const std::size_t used = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  const std::size_t room = *columns > used ? (*columns - used) / (widths.size() - 1) : 0;
  return std::clamp(room, std::size_t{1}, kWidestGap);
}

}  // namespace

std::vector<Character> Characters(std::string_view text) {
  std::vector<Character> characters;
  characters.reserve(text.size());
  EachCharacter(text, [&characters](std::string_view character, std::size_t width) {
    characters.push_back({character, width});
  });
  return characters;
}

std::size_t DisplayWidth(std::string_view text) {
  std::size_t width = 0;
  EachCharacter(text, [&width](std::string_view /*character*/, std::size_t columns) { width += columns; });
  return width;
}

std::vector<std::string> AlignTable(const std::vector<std::vector<std::string>>& rows, const CellTone& tone_of,
                                    std::optional<std::size_t> columns) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(Printable(row[i])));
  }
  const std::size_t between = GapFor(widths, columns);
  std::vector<std::string> lines;
  lines.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Pieces line;
    std::size_t gap = 0;  // Behind the last cell that is not empty.
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      const Piece cell(rows[row][i], tone_of ? tone_of(row, i) : Tone::kPlain);
      const std::size_t width = DisplayWidth(cell.text);
      if (!cell.text.empty()) line.insert(line.end(), {Blanks(gap), cell});
      gap = (cell.text.empty() ? gap : 0) + widths[i] - width + between;
    }
    lines.push_back(Paint(line, tone_of != nullptr));
  }
  return lines;
}

}  // namespace cnpa
