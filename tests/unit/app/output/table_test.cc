// SPDX-License-Identifier: Apache-2.0
#include "app/output/table.h"

#include "app/output/width.h"
#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("DisplayWidth counts columns and not bytes", "[app][table]") {
  CHECK(DisplayWidth("") == 0);
  CHECK(DisplayWidth("abc") == 3);
  CHECK(DisplayWidth("é") == 1);
  CHECK(DisplayWidth("e\xcc\x81") == 1);  // With a combining accent.
  CHECK(DisplayWidth("漢字") == 4);
  CHECK(DisplayWidth("🚀") == 2);
  CHECK(DisplayWidth("a\xff") == 2);
  CHECK(DisplayWidth("\xe6\xbc") == 2);  // The beginning of a character.
}

TEST_CASE("Characters takes a text apart, and loses none of it", "[app][table]") {
  const std::string text = "a漢e\xcc\x81\xff";
  std::string joined;
  std::vector<std::size_t> widths;
  for (const Character& character : Characters(text)) {
    joined += character.text;
    widths.push_back(character.width);
  }
  CHECK(joined == text);
  CHECK(widths == std::vector<std::size_t>{1, 2, 1, 0, 1});
  CHECK(Characters("").empty());
}

TEST_CASE("AlignTable aligns columns by what they take on a terminal", "[app][table]") {
  const std::vector<std::string> want{"NAME   A   B", "漢字   1   x", "ab     2   y z"};
  CHECK(AlignTable({{"NAME", "A", "B"}, {"漢字", "1", "x"}, {"ab", "2", "y z"}}) == want);
  CHECK(AlignTable({}).empty());
}

TEST_CASE("AlignTable colours cells, and ends no line in blanks", "[app][table]") {
  const auto tone = [](std::size_t row, std::size_t column) {
    return row == 1 && column == 1 ? Tone::kGreen : Tone::kPlain;
  };
  CHECK(AlignTable({{"A", "B", "C"}, {"a", "b", ""}, {"a", "", "c"}}, tone) ==
        std::vector<std::string>{"A   B   C", "a   \033[32mb\033[0m", "a       c"});
}

TEST_CASE("AlignTable moves columns together where a terminal is narrow", "[app][table]") {
  const auto lines = [](std::size_t columns) { return AlignTable({{"AB", "C", "D"}, {"a", "b", "cd"}}, {}, columns); };
  CHECK(lines(11) == std::vector<std::string>{"AB   C   D", "a    b   cd"});
  CHECK(lines(10) == std::vector<std::string>{"AB  C  D", "a   b  cd"});
  CHECK(lines(8) == std::vector<std::string>{"AB C D", "a  b cd"});
  CHECK(lines(2) == lines(8));
}

TEST_CASE("AlignTable lets no control character through", "[app][table]") {
  CHECK(AlignTable({{"a\nb", "\x1b[31m"}}) == std::vector<std::string>{"a b    [31m"});
}

}  // namespace
}  // namespace cnpa
