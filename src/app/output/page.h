// SPDX-License-Identifier: Apache-2.0
//
// Lines of words for eyes, which end where a terminal does and go on below their words. Elsewhere each is whole.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "app/output/layout.h"

namespace cnpa {

class Page {
 public:
  explicit Page(ViewForm form) : form_(form) {}

  /// Puts `head` and behind it `text`, whose further lines are indented by `hang`.
  void Put(const Pieces& head, const Pieces& text, std::size_t hang);

  /// Puts lines that are laid out already.
  void Put(std::vector<std::string> lines);

  /// Puts words alone.
  void Put(const std::string& words, std::size_t indent = 0);
  void PutBold(const std::string& words);

  /// Puts what is marked with a symbol, as lines of a plan are; with `object`, that first.
  void PutMarked(char symbol, const std::string& words);
  void PutMarked(char symbol, const std::string& object, const Pieces& text);

  const ViewForm& form() const { return form_; }
  std::vector<std::string> TakeLines() { return std::move(lines_); }

 private:
  ViewForm form_;
  std::vector<std::string> lines_;
};

}  // namespace cnpa
