// SPDX-License-Identifier: Apache-2.0
#include "app/page.h"

#include <algorithm>
#include <utility>

#include "app/layout.h"
#include "app/log.h"
#include "app/render.h"
#include "app/table.h"

namespace cnpa {
namespace {

constexpr std::size_t kGap = 2;

std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words;
  const std::string printable = Printable(text);
  for (std::size_t start = 0; start < printable.size();) {
    const std::size_t end = std::min(printable.find(' ', start), printable.size());
    if (end > start) words.push_back(printable.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

}  // namespace

void Page::Put(const std::string& head, std::size_t head_width, const std::string& words, std::size_t hang) {
  std::string line = head;
  std::size_t used = head_width;
  bool fresh = true;
  for (const std::string& word : WordsOf(words)) {
    const std::size_t width = DisplayWidth(word);
    if (!fresh && columns_ && used + 1 + width > *columns_) {
      lines_.push_back(std::exchange(line, std::string(hang, ' ')));
      used = hang;
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    used += width + (fresh ? 0 : 1);
    fresh = false;
  }
  lines_.push_back(std::move(line));
}

void Page::Put(const std::string& words, std::size_t indent) {
  Put(std::string(indent, ' '), indent, words, indent == 0 ? 0 : indent + 4);
}

void Page::PutBold(const std::string& words) {
  const std::size_t before = lines_.size();
  Put(words);
  for (std::size_t i = before; i < lines_.size(); ++i) lines_[i] = Bold(lines_[i]);
}

void Page::PutMarked(char symbol, const std::string& words) {
  Put("  " + Mark(symbol) + " ", 4, words, 6);
}

void Page::PutMarked(char symbol, const std::string& object, const std::string& words) {
  const std::string gap(kGap, ' ');
  Put("  " + Mark(symbol) + " " + object + gap, 4 + DisplayWidth(object) + kGap, words, 6);
}

std::string Page::Mark(char symbol) const {
  return Paint({{std::string(1, symbol), symbol == ' ' ? Tone::kPlain : ToneOf(symbol)}}, color_);
}

std::string Page::Bold(const std::string& text) const {
  return Paint({{text, Tone::kBold}}, color_);
}

}  // namespace cnpa
