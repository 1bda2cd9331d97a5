// SPDX-License-Identifier: Apache-2.0
#include "app/table.h"

#include <algorithm>
#include <clocale>
#include <cwchar>

#include "app/log.h"

namespace cnpa {
namespace {

constexpr std::size_t kGap = 3;

/// A locale with Unicode's tables, whatever the user's is; made once.
locale_t UnicodeLocale() {
  static const locale_t kLocale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return kLocale;
}

}  // namespace

std::size_t DisplayWidth(std::string_view text) {
  const locale_t before = ::uselocale(UnicodeLocale() != nullptr ? UnicodeLocale() : nullptr);
  std::size_t width = 0;
  std::mbstate_t state{};
  while (!text.empty()) {
    wchar_t character = 0;
    const std::size_t size = std::mbrtowc(&character, text.data(), text.size(), &state);
    if (size == 0 || size > text.size()) {
      state = {};
      ++width;
      text.remove_prefix(1);
      continue;
    }
    width += static_cast<std::size_t>(std::max(0, ::wcwidth(character)));
    text.remove_prefix(size);
  }
  ::uselocale(before);
  return width;
}

std::vector<std::string> AlignTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::vector<std::string> lines;
  lines.reserve(rows.size());
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += Printable(row[i]);
      if (i + 1 < row.size()) line.append(widths[i] - DisplayWidth(row[i]) + kGap, ' ');
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace cnpa
