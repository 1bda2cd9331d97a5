// SPDX-License-Identifier: Apache-2.0
#include "app/output/table.h"

#include <algorithm>
#include <numeric>

#include "app/output/width.h"
#include "base/text.h"

namespace cnpa {
namespace {

constexpr std::size_t kWidestGap = 3;

/// Returns how many blanks there may be between columns.
std::size_t GapFor(const std::vector<std::size_t>& widths, std::optional<std::size_t> columns) {
  if (!columns || widths.size() < 2) return kWidestGap;
  const std::size_t used = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  const std::size_t room = *columns > used ? (*columns - used) / (widths.size() - 1) : 0;
  return std::clamp(room, std::size_t{1}, kWidestGap);
}

}  // namespace

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
