// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("Shortened cuts what is too long, never inside a character", "[base][text]") {
  struct Case {
    std::string name;
    std::string text;
    std::size_t most;
    std::string want;
  };
  const std::vector<Case> cases{
      {"empty", "", 3, ""},
      {"fits", "abc", 3, "abc"},
      {"one too many", "abcd", 3, "abc ..."},
      {"before a character of two bytes", "ab\xc3\xa4", 3, "ab ..."},
      {"behind it", "a\xc3\xa4z", 3, "a\xc3\xa4 ..."},
      {"in the third byte of four", "ab\xf0\x9f\x98\x80", 4, "ab ..."},
      {"nothing fits", "\xc3\xa4", 1, " ..."},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(Shortened(c.text, c.most) == c.want);
    }
  }
}

TEST_CASE("FirstCharacter takes well-formed UTF-8, and one byte of anything else", "[base][text]") {
  struct Case {
    std::string text;
    Utf8Character want;
  };
  constexpr Utf8Character kNone{kNoCharacter, 1};
  const std::vector<Case> cases{
      {"a", {'a', 1}},
      {std::string(1, '\0'), {0, 1}},
      {"\x7f", {0x7F, 1}},
      {"\xc2\x80", {0x80, 2}},
      {"\xdf\xbf", {0x7FF, 2}},
      {"\xe0\xa0\x80", {0x800, 3}},
      {"\xed\x9f\xbf", {0xD7FF, 3}},
      {"\xee\x80\x80", {0xE000, 3}},
      {"\xf0\x90\x80\x80", {0x10000, 4}},
      {"\xf4\x8f\xbf\xbfz", {0x10FFFF, 4}},
      {"\uFFFD", {kNoCharacter, 3}},
      {"\x80", kNone},  // Goes on without a beginning.
      {"\xc3", kNone},  // Ends early.
      {"\xe2\x82", kNone},
      {"\xf0\x9f\x98", kNone},
      {"\xc3(", kNone},
      {"\xe2(\xa1", kNone},
      {"\xf0\x9f(\x80", kNone},
      {"\xc0\xaf", kNone},  // Longer than need be.
      {"\xc1\xbf", kNone},
      {"\xe0\x9f\xbf", kNone},
      {"\xf0\x8f\xbf\xbf", kNone},
      {"\xed\xa0\x80", kNone},  // A half of a surrogate pair.
      {"\xed\xbf\xbf", kNone},
      {"\xf4\x90\x80\x80", kNone},  // Beyond Unicode.
      {"\xf5\x80\x80\x80", kNone},
      {"\xff", kNone},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(FirstCharacter(c.text) == c.want);
  }
}

TEST_CASE("IsControl knows what is obeyed rather than shown", "[base][text]") {
  const std::vector<std::pair<char32_t, char32_t>> controls{
      {0x00, 0x1F}, {0x7F, 0x9F}, {0x2028, 0x202E}, {0x2066, 0x2069}};
  for (char32_t code = 0; code < 0x3000; ++code) {
    const bool want = std::any_of(controls.begin(), controls.end(),
                                  [code](const auto& range) { return code >= range.first && code <= range.second; });
    CAPTURE(static_cast<std::uint32_t>(code));
    CHECK(IsControl(code) == want);
  }
}

TEST_CASE("OneLine makes of any bytes one line that can be shown and stored", "[base][text]") {
  struct Case {
    std::string name;
    std::string text;
    std::string want;
    std::size_t most_bytes = kLongestWords;
  };
  const std::vector<Case> cases{
      {"empty", "", ""},
      {"plain", "as it is", "as it is"},
      {"letters of all kinds", "\u00e4 \u20ac \ud300 \U0001F600", "\u00e4 \u20ac \ud300 \U0001F600"},
      {"Latin-1", "Zugang verweigert f\xfcr", "Zugang verweigert f\uFFFDr"},
      {"each byte of its own", "\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
      {"lines", "one\r\ntwo\u2028three\u2029", "one  two three"},
      {"a terminal's title and colour", "\x1b]0;pwn\x07\x1b[31mred", "]0;pwn  [31mred"},
      {"the same in 8 bits", "\u009b31mred\u009d0;pwn\u009c", "31mred 0;pwn"},
      {"a zero", std::string("a\0b\x7f", 4), "a b"},
      {"turned direction", "a\u202egpj.exe\u202c b\u2067c\u2069", "a gpj.exe  b c"},
      {"blanks and no more", " \t\n ", ""},
      {"fits", "0123456789abcdef", "0123456789abcdef", 16},
      {"both ends of a long one", "0123456789abcdefg", "01234567 ... 9abcdefg", 16},
      {"cut between characters", "0123456\u00e4-----\u00e4abcdefg", "0123456 ... \u00e4abcdefg", 16},
      {"bytes that grow", std::string(20, '\xff'), "\uFFFD\uFFFD ... \uFFFD\uFFFD\uFFFD", 16},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const std::string line = OneLine(c.text, c.most_bytes);
      CHECK(line == c.want);
      CHECK(OneLine(line) == line);
    }
  }
}

TEST_CASE("OneLine is valid, bounded and stays as it is, for any bytes", "[base][text]") {
  std::minstd_rand random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time.
  const std::vector<std::string> parts{"a",          " ",    "\xff",   "\xe2\x82", "\u20ac",
                                       "\U0001F600", "\x1b", "\u009b", "\u202e",   "\x80"};
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    while (random() % 40 != 0) text += parts[random() % parts.size()];
    const std::string line = OneLine(text, 64);
    CAPTURE(text, line);
    CHECK(line.size() <= 64 + 5 + 6);  // The dots, and what is kept whole of a character at the second cut.
    CHECK(Printable(line) == line);
    CHECK(OneLine(line, 80) == line);
  }
}

}  // namespace
}  // namespace cnpa
