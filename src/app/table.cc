// SPDX-License-Identifier: Apache-2.0
#include "app/table.h"

#include <algorithm>
#include <clocale>
#include <cwchar>

#include "base/text.h"

namespace cnpa {
namespace {

constexpr std::size_t kGap = 3;

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
