// SPDX-License-Identifier: Apache-2.0
//
// Columns for people.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/output/layout.h"

namespace cnpa {

/// Says in what colour the cell of a row and a column is.
using CellTone = std::function<Tone(std::size_t row, std::size_t column)>;

/// Returns `rows`, the first of which is the head, a line each, with columns aligned and blanks between them, and none
/// at the end: three, or down to one where `columns` of a terminal are too few for that. Nothing is cut off. Requires:
/// all rows are as long.
std::vector<std::string> AlignTable(const std::vector<std::vector<std::string>>& rows, const CellTone& tone_of = {},
                                    std::optional<std::size_t> columns = {});

}  // namespace cnpa
