// SPDX-License-Identifier: Apache-2.0
#include "kube/json/line_splitter.h"

#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

using Lines = std::vector<std::string>;

Lines LinesOf(const std::string& text, std::size_t piece) {
  Lines lines;
  LineSplitter splitter([&lines](std::string& line) -> Status {
    lines.push_back(line);
    line = "is overwritten by who parses it";
    return {};
  });
  for (std::size_t start = 0; start < text.size(); start += piece) REQUIRE(splitter.Feed(text.substr(start, piece)));
  return lines;
}

TEST_CASE("LineSplitter gives whole lines, however the bytes come", "[kube][line_splitter]") {
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 100U}) {
    CAPTURE(piece);
    CHECK(LinesOf("", piece).empty());
    CHECK(LinesOf("no end", piece).empty());
    CHECK(LinesOf("one\ntwo\n", piece) == Lines{"one", "two"});
    CHECK(LinesOf("\n\none\n\ntwo\nrest", piece) == Lines{"one", "two"});
  }
}

TEST_CASE("LineSplitter ends with what its reader says", "[kube][line_splitter]") {
  int lines = 0;
  LineSplitter splitter([&lines](std::string&) -> Status {
    ++lines;
    return Fail(ErrorCode::kConflict, "enough");
  });
  CHECK(splitter.Feed("one\ntwo\n").error() == Error{ErrorCode::kConflict, "enough"});
  CHECK(lines == 1);
}

TEST_CASE("LineSplitter refuses a line that does not end", "[kube][line_splitter]") {
  LineSplitter splitter([](std::string&) -> Status { return {}; });
  const std::string piece(std::size_t{1} << 20U, 'x');
  Status fed;
  int pieces = 0;
  while (fed && pieces < 100) {
    fed = splitter.Feed(piece);
    ++pieces;
  }
  CHECK(pieces == 9);
  REQUIRE_FALSE(fed);
  CHECK(fed.error().code == ErrorCode::kMalformed);
}

}  // namespace
}  // namespace cnpa
