// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <string>
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

}  // namespace
}  // namespace cnpa
