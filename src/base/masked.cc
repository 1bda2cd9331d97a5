// SPDX-License-Identifier: Apache-2.0
#include "base/masked.h"

#include <algorithm>

namespace cnpa {
namespace {

constexpr char kMask = '#';
constexpr std::size_t kShortestHex = 8;  // "deadbeef"; "added" and "facade" are words.

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsHex(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool IsOfWord(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// What stands between the parts of one time, address, version or uuid.
bool IsJoiner(char c) {
  return c == '.' || c == ':' || c == '-' || c == '+' || c == ',' || c == '_' || c == '/';
}

bool Varies(std::string_view word) {
  return std::any_of(word.begin(), word.end(), IsDigit) ||
         (word.size() >= kShortestHex && std::all_of(word.begin(), word.end(), IsHex));
}

/// Returns the size of the uuid at the front of `text`, 0 if there is none: its parts alone may be without a digit.
std::size_t SizeOfUuid(std::string_view text) {
  constexpr std::string_view kForm = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
  const auto fits = [](char form, char c) { return form == '-' ? c == '-' : IsHex(c); };
  if (text.size() < kForm.size() || !std::equal(kForm.begin(), kForm.end(), text.begin(), fits)) return 0;
  const bool ends = text.size() == kForm.size() || !IsOfWord(text[kForm.size()]);
  return ends ? kForm.size() : 0;
}

/// Puts a mask behind `masked`, or makes it one with the mask that ends there.
void AppendMask(std::string& masked) {
  const auto last = [&masked](std::size_t i) { return masked.size() > i ? masked[masked.size() - 1 - i] : ' '; };
  if (last(0) == kMask) return;
  const bool is_sign = (last(0) == '+' || last(0) == '-') && last(1) == ' ';
  const bool joins = IsJoiner(last(0)) && last(1) == kMask;
  if (is_sign || joins) masked.pop_back();
  if (!joins) masked += kMask;
}

}  // namespace

std::string Masked(std::string_view text) {
  std::string masked;
  masked.reserve(text.size());
  while (!text.empty()) {
    std::size_t size = SizeOfUuid(text);
    bool varies = size > 0;
    if (!varies) {
      size = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), IsOfWord) - text.begin());
      varies = Varies(text.substr(0, size));
    }
    if (varies) {
      AppendMask(masked);
    } else {
      size = std::max<std::size_t>(size, 1);
      masked += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return masked;
}

}  // namespace cnpa
