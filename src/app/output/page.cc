// SPDX-License-Identifier: Apache-2.0
#include "app/output/page.h"

namespace cnpa {
namespace {

constexpr std::size_t kMarkedHang = 6;

Pieces Words(const std::string& words, Tone tone = Tone::kPlain) {
  return {{words, tone}};
}

}  // namespace

void Page::Put(const Pieces& head, const Pieces& text, std::size_t hang) {
  Put(Hang(head, text, hang, form_));
}

void Page::Put(std::vector<std::string> lines) {
  for (std::string& line : lines) lines_.push_back(std::move(line));
}

void Page::Put(const std::string& words, std::size_t indent) {
  Put({Blanks(indent)}, Words(words), indent == 0 ? 0 : indent + 4);
}

void Page::PutBold(const std::string& words) {
  Put({}, Words(words, Tone::kBold), 0);
}

void Page::PutMarked(char symbol, const std::string& words) {
  Put({Blanks(2), MarkPiece(symbol), Blanks(1)}, Words(words), kMarkedHang);
}

void Page::PutMarked(char symbol, const std::string& object, const Pieces& text) {
  Put({Blanks(2), MarkPiece(symbol), {" " + object, Tone::kPlain}, Blanks(2)}, text, kMarkedHang);
}

}  // namespace cnpa
