// SPDX-License-Identifier: Apache-2.0
//
// Columns for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cnpa {

/// A character of a text, and how many columns it takes on a terminal.
struct Character {
  std::string_view text;
  std::size_t width = 0;
};

/// Returns the characters of `text`, whose widths are as DisplayWidth() has them.
std::vector<Character> Characters(std::string_view text);

/// Returns how many columns `text` takes on a terminal: an East Asian character or an emoji takes two, a combining
/// mark none. What is no UTF-8 takes one a byte.
///
/// Source:  wcwidth(3), in the C library's own tables of Unicode.
std::size_t DisplayWidth(std::string_view text);

/// Returns `rows`, the first of which is the head, a line each, with columns aligned and three blanks between them.
/// Nothing is cut off. Requires: all rows are as long.
std::vector<std::string> AlignTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace cnpa
