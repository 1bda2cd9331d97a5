// SPDX-License-Identifier: Apache-2.0
//
// Columns for people.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/output/layout.h"

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

/// Says in what colour the cell of a row and a column is.
using CellTone = std::function<Tone(std::size_t row, std::size_t column)>;

/// Returns `rows`, the first of which is the head, a line each, with columns aligned and blanks between them, and none
/// at the end: three, or down to one where `columns` of a terminal are too few for that. Nothing is cut off. Requires:
/// all rows are as long.
std::vector<std::string> AlignTable(const std::vector<std::vector<std::string>>& rows, const CellTone& tone_of = {},
                                    std::optional<std::size_t> columns = {});

}  // namespace cnpa
