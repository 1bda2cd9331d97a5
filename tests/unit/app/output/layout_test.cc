// SPDX-License-Identifier: Apache-2.0
#include "app/output/layout.h"

#include <string>
#include <vector>

#include "app/output/table.h"
#include "app/output/width.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using Lines = std::vector<std::string>;

Lines WrapText(const std::string& text, std::size_t width) {
  Lines lines;
  for (const Pieces& line : Wrap({{text, Tone::kPlain}}, width)) lines.push_back(Paint(line, false));
  return lines;
}

TEST_CASE("Wrap breaks lines where a reader would", "[app][piece]") {
  struct Case {
    std::string name;
    std::string text;
    std::size_t width;
    Lines want;
  };
  const std::vector<Case> cases{
      {"nothing", "", 10, {""}},
      {"fits", "ab cd", 5, {"ab cd"}},
      {"at a blank", "ab cd ef", 5, {"ab cd", "ef"}},
      {"a blank that would be the first too many", "abcde f", 5, {"abcde", "f"}},
      {"several blanks", "ab   cd", 4, {"ab", "cd"}},
      {"blanks within a line stay", "a  b c", 4, {"a  b", "c"}},
      {"blanks at the beginning stay", "  a b", 3, {"  a", "b"}},
      {"a word that fits the next line", "ab cdefg", 5, {"ab", "cdefg"}},
      {"a word that fits no line begins where it stands", "ab cdefghijk", 5, {"ab cd", "efghi", "jk"}},
      {"a word alone that fits no line", "abcdefg", 3, {"abc", "def", "g"}},
      {"wide characters, which need no blank", "팀이름은없다", 5, {"팀이", "름은", "없다"}},
      {"wide ones behind a word", "ab 팀이름", 6, {"ab 팀", "이름"}},
      {"narrow ones behind wide ones", "팀 abcd", 6, {"팀", "abcd"}},
      {"a mark stays with its letter", "abce\u0301fg", 4, {"abce\u0301", "fg"}},
      {"bytes that are no text take a column each", "\xff\xfe\xfd", 2, {"\uFFFD\uFFFD", "\uFFFD"}},
      {"what a terminal would obey", "a\x1b[31m\nb", 20, {"a [31m b"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(WrapText(c.text, c.width) == c.want);
    }
  }
}

TEST_CASE("Wrap loses nothing but blanks, and no line is too long, at any width", "[app][piece]") {
  const std::string text =
      "the policy 'no-팀' says: 그런 이름의 네임스페이스는 없다, see https://example.org/a/long/path now";
  std::string letters = text;
  std::erase(letters, ' ');
  for (std::size_t width = 2; width < 130; ++width) {
    CAPTURE(width);
    std::string joined;
    for (const std::string& line : WrapText(text, width)) {
      CHECK(DisplayWidth(line) <= width);
      CHECK_FALSE(line.empty());
      joined += line;
    }
    std::erase(joined, ' ');
    CHECK(joined == letters);
  }
}

TEST_CASE("Hang begins behind a head, and below it where no word fits there", "[app][piece]") {
  struct Case {
    std::string name;
    std::string head;
    std::string text;
    std::optional<std::size_t> columns;
    Lines want;
  };
  const std::vector<Case> cases{
      {"no terminal", "head ", "a long text", std::nullopt, {"head a long text"}},
      {"fits", "head ", "text", 14, {"head text"}},
      {"goes on below", "head ", "a long text", 14, {"head a long", "    text"}},
      {"no word fits behind the head", "long head ", "words here", 14, {"long head", "    words here"}},
      {"a head as wide as the terminal", "a head for all", "word", 14, {"a head for all", "    word"}},
      {"a word that fits no line", "head ", "abcdefghijklm", 14, {"head abcdefghi", "    jklm"}},
      {"a word that fits no line, behind a wide head",
       "a head for all",
       "abcdefghijk",
       14,
       {"a head for all", "    abcdefghij", "    k"}},
      {"no words", "head ", "", 14, {"head"}},
      {"narrower than can be", "head ", "words", 3, {"head", "    words"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(Hang({{c.head, Tone::kPlain}}, {{c.text, Tone::kPlain}}, 4, {.color = false, .columns = c.columns}) ==
            c.want);
    }
  }
}

TEST_CASE("WayOut finds the command that words end with", "[app][piece]") {
  CHECK(WayOut("forbidden: user \"x\" cannot list pods: cnpa-op rbac | kubectl apply -f -") ==
        "cnpa-op rbac | kubectl apply -f -");
  CHECK(WayOut("hand it over with: kubectl label namespace team-a --overwrite a/b=c") ==
        "kubectl label namespace team-a --overwrite a/b=c");
  CHECK(WayOut("chmod 700 '/a'") == "chmod 700 '/a'");
  CHECK(WayOut("cnpa-op rbac, and the token of: kubectl create token a -n b") == "kubectl create token a -n b");
  for (const char* none : {"", ": ", "see kubectl get pods", "error: kubectl", "was changed by: kubectl-patch, 2s ago",
                           "give it one: cnpa-op rbac | kubectl apply -f -, and a kubeconfig"}) {
    CHECK(WayOut(none).empty());
  }
}

TEST_CASE("Hang gives a command a line of its own, whole, if one line is not enough", "[app][piece]") {
  const std::string command = "kubectl label namespace team-a --overwrite platform.labhub.io/teamspace=a";
  const std::string text = "NamespaceConflict: it is not ours, hand it over with: " + command;
  const auto lines = [&](std::optional<std::size_t> columns, const std::string& words) {
    return Hang({{"! a  "}}, {{words}}, 6, {.color = false, .columns = columns});
  };
  CHECK(lines(std::nullopt, text) == Lines{"! a  " + text});
  CHECK(lines(200, text) == Lines{"! a  " + text});
  CHECK(lines(80, text) == Lines{"! a  NamespaceConflict: it is not ours, hand it over with:", "    " + command});
  CHECK(lines(40, text) ==
        Lines{"! a  NamespaceConflict: it is not ours,", "      hand it over with:", "    " + command});
  CHECK(Hang({Blanks(19)}, {{command}}, 19, {.color = false, .columns = 60}) == Lines{"    " + command});
}

TEST_CASE("HangAt puts words beside their head, or below it where that takes fewer lines", "[app][piece]") {
  const auto lines = [](const std::vector<Pieces>& parts, std::optional<std::size_t> columns, bool aligned = true) {
    return HangAt({{"~ Head"}}, aligned ? 20 : 0, parts, 4, {.color = false, .columns = columns, .aligned = aligned});
  };
  const Pieces words{{"some words that are many"}};
  CHECK(lines({words}, std::nullopt) == Lines{"~ Head              some words that are many"});
  CHECK(lines({words}, std::nullopt, false) == Lines{"~ Head some words that are many"});
  CHECK(lines({words}, 44) == Lines{"~ Head              some words that are many"});
  CHECK(lines({words}, 43) == Lines{"~ Head  some words that are many"});
  CHECK(lines({words}, 31) == Lines{"~ Head  some words that are", "    many"});
  // As many lines either way: beside it, where eyes look for them.
  CHECK(lines({words, {{"more"}}}, 31) == Lines{"~ Head  some words that are", "    many", "    more"});
  CHECK(lines({{{"one"}}, {{"two"}}}, 31) == Lines{"~ Head              one", "                    two"});
  // A head that is wider than its column.
  CHECK(HangAt({{"~ A long head"}}, 8, {words}, 4, {}) == Lines{"~ A long head some words that are many"});
  CHECK(HangAt({{"~ A long head"}}, 8, {words}, 4, {.columns = 24}) ==
        Lines{"~ A long head  some", "    words that are many"});
}

TEST_CASE("Wrap keeps tones across lines", "[app][piece]") {
  const std::vector<Pieces> lines = Wrap({{"a ", Tone::kPlain}, {"red words", Tone::kRed}, {" end", Tone::kPlain}}, 6);
  CHECK(lines == std::vector<Pieces>{
                     {{"a ", Tone::kPlain}, {"red", Tone::kRed}}, {{"words", Tone::kRed}}, {{"end", Tone::kPlain}}});
}

TEST_CASE("Paint colours each piece for itself, or nothing", "[app][piece]") {
  const Pieces pieces{{"a", Tone::kPlain}, {"b", Tone::kGreen}, {"", Tone::kRed}, {"c", Tone::kBoldRed}};
  CHECK(Paint(pieces, true) == "a\033[32mb\033[0m\033[1;31mc\033[0m");
  CHECK(Paint(pieces, false) == "abc");
}

}  // namespace
}  // namespace cnpa
