// SPDX-License-Identifier: Apache-2.0
//
// Lines of words for eyes, which end where a terminal does and go on below their words. Elsewhere each is whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cnpa {

class Page {
 public:
  /// `columns`: of the terminal; nothing: it is none.
  Page(bool color, std::optional<std::size_t> columns) : color_(color), columns_(columns) {}

  /// Puts `head` and behind it `words`, whose further lines are indented by `hang`. `head` takes `head_width` columns,
  /// whatever its colours.
  void Put(const std::string& head, std::size_t head_width, const std::string& words, std::size_t hang);

  /// Puts words alone.
  void Put(const std::string& words, std::size_t indent = 0);
  void PutBold(const std::string& words);

  /// Puts what is marked with a symbol, as lines of a plan are; with `object`, that first.
  void PutMarked(char symbol, const std::string& words);
  void PutMarked(char symbol, const std::string& object, const std::string& words);

  /// Returns a symbol in its colour, a text in bold.
  std::string Mark(char symbol) const;
  std::string Bold(const std::string& text) const;

  const std::optional<std::size_t>& columns() const { return columns_; }
  std::vector<std::string> TakeLines() { return std::move(lines_); }

 private:
  bool color_;
  std::optional<std::size_t> columns_;
  std::vector<std::string> lines_;
};

}  // namespace cnpa
