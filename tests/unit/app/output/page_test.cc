// SPDX-License-Identifier: Apache-2.0
#include "app/output/page.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("Page ends lines where a terminal does, and never within a word", "[app][page]") {
  struct Case {
    std::string name;
    std::optional<std::size_t> columns;
    std::string words;
    Lines want;
  };
  const std::vector<Case> cases{
      {"a pipe", std::nullopt, "one two three four", {"  ~ a  one two three four"}},
      {"wide enough", 24, "one two three four", {"  ~ a  one two three", "      four"}},
      {"to the column", 25, "one two three four", {"  ~ a  one two three four"}},
      {"narrow", 16, "one two three four", {"  ~ a  one two", "      three four"}},
      {"a word that fits no line", 16, "one abcdefghijklmn two", {"  ~ a  one abcde", "      fghijklmn", "      two"}},
      {"wide characters", 16, "漢字 漢字 漢字", {"  ~ a  漢字 漢字", "      漢字"}},
      {"no words", 20, "", {"  ~ a"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Page page({.color = false, .columns = c.columns});
      page.PutMarked('~', "a", {{c.words, Tone::kPlain}});
      CHECK(page.TakeLines() == c.want);
    }
  }
}

TEST_CASE("Page indents what goes on, and takes of colours no columns", "[app][page]") {
  Page page({.color = true, .columns = 12});
  page.PutBold("one two three");
  page.Put("one two three", 2);
  page.PutMarked('!', "one two three");
  CHECK(page.TakeLines() == Lines{"\033[1mone two\033[0m", "\033[1mthree\033[0m", "  one two", "      three",
                                  "  \033[1;31m!\033[0m one two", "      three"});
}

}  // namespace
}  // namespace cnpa
