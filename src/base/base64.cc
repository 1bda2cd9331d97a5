// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <algorithm>
#include <cstdint>

namespace cnpa {
namespace {

/// Returns the six bits that `c` stands for, or -1.
int SixBits(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

Result<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int digits = 0;   // digits in `group`
  int padding = 0;  // '=' seen
  for (const char c : text) {
    if (IsBlank(c)) continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int bits = SixBits(c);
    if (bits < 0 || padding > 0) return Fail(ErrorCode::kInvalid, "not base64");
    group = (group << 6U) | static_cast<std::uint32_t>(bits);
    if (++digits == 4) {
      for (const unsigned shift : {16U, 8U, 0U}) bytes.push_back(static_cast<char>((group >> shift) & 0xFFU));
      group = 0;
      digits = 0;
    }
  }
  if (digits == 1 || (digits == 0 && padding != 0) || (digits != 0 && digits + padding != 4)) {
    return Fail(ErrorCode::kInvalid, "not base64: it ends in the middle of a group");
  }
  if (digits >= 2) bytes.push_back(static_cast<char>((group >> (digits == 2 ? 4U : 10U)) & 0xFFU));
  if (digits == 3) bytes.push_back(static_cast<char>((group >> 2U) & 0xFFU));
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = (group << 8U) | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= count ? kDigits[(group >> (18U - 6U * static_cast<unsigned>(j))) & 0x3FU] : '=';
    }
  }
  return text;
}

}  // namespace cnpa
