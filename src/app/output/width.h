// SPDX-License-Identifier: Apache-2.0
//
// How many columns of a terminal a text takes.
#pragma once

#include <cstddef>
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

}  // namespace cnpa
