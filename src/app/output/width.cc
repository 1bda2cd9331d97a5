// SPDX-License-Identifier: Apache-2.0
#include "app/output/width.h"

#include <algorithm>
#include <clocale>
#include <cwchar>

namespace cnpa {
namespace {

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

}  // namespace cnpa
