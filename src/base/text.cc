// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

namespace cnpa {
namespace {

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Returns `position`, or the beginning of the character that it is inside of: three bytes in front of it at most, what
/// goes on for longer is not UTF-8.
std::size_t CharacterStart(std::string_view text, std::size_t position) {
  for (std::size_t start = position, i = 0; i <= 3 && start < text.size(); --start, ++i) {
    if (!IsContinuation(text[start])) return start;
    if (start == 0) break;
  }
  return position;
}

/// Returns both ends of a text that is too long.
std::string Ends(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  std::string ends(text.substr(0, CharacterStart(text, most_bytes / 2)));
  ends.append(kDots).append(" ");
  return ends.append(text.substr(CharacterStart(text, text.size() - most_bytes / 2)));
}

}  // namespace

std::string Shortened(std::string text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  text.resize(CharacterStart(text, most_bytes));
  return text.append(kDots);
}

Utf8Character FirstCharacter(std::string_view text) {
  constexpr Utf8Character kNone{kNoCharacter, 1};
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xC2 || lead > 0xF4) return kNone;
  const std::size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < bytes) return kNone;
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text[i])) return kNone;
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const char32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least || code > 0x10FFFF || surrogate) return kNone;
  return {code, bytes};
}

bool IsControl(char32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return true;
  return (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string Printable(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (Utf8Character next; !text.empty(); text.remove_prefix(next.bytes)) {
    next = FirstCharacter(text);
    if (IsControl(next.code)) {
      line += ' ';
    } else {
      line += next.code == kNoCharacter ? kReplacement : text.substr(0, next.bytes);
    }
  }
  return line;
}

std::string OneLine(std::string_view text, std::size_t most_bytes) {
  // Cut first, since it may be of megabytes; and again where bytes that are not UTF-8 have become three each.
  const std::string ends = Ends(text, most_bytes);
  std::string line = Printable(ends);
  if (line.size() > ends.size()) line = Ends(line, most_bytes);
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(' ') - first + 1);
}

std::string Count(std::size_t number, const std::string& noun) {
  const char* ending = number == 1 ? "" : noun.ends_with('s') ? "es" : "s";
  return std::to_string(number) + " " + noun + ending;
}

}  // namespace cnpa
