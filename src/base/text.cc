// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

namespace cnpa {

std::string Shortened(std::string text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  std::size_t end = most_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // Not inside a character.
  text.resize(end);
  return text.append(kDots);
}

}  // namespace cnpa
