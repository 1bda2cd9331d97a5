// SPDX-License-Identifier: Apache-2.0
#include "kube/json/json_marks.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/random.h"

namespace cnpa {
namespace {

constexpr std::string_view kMarks = "\"\\{}[]";

std::vector<std::size_t> MarksOneByOne(std::string_view text) {
  std::vector<std::size_t> places;
  for (std::size_t i = text.find_first_of(kMarks); i < text.size(); i = text.find_first_of(kMarks, i + 1)) {
    places.push_back(i);
  }
  return places;
}

template <typename Block>
std::vector<std::size_t> MarksOf(std::string_view text) {
  std::vector<std::size_t> places;
  EachMark<Block>(text, [&places](std::size_t place) {
    places.push_back(place);
    return true;
  });
  return places;
}

void RequireMarks(const std::string& text) {
  CAPTURE(text);
  const std::vector<std::size_t> want = MarksOneByOne(text);
  REQUIRE(MarksOf<JsonBlock>(text) == want);
  REQUIRE(MarksOf<PortableBlock>(text) == want);
}

TEST_CASE("EachMark takes each byte for what it is, wherever it stands", "[kube][json_marks]") {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    RequireMarks(std::string(40, c));
    for (std::size_t place = 0; place < 40; ++place) {
      std::string text(40, 'x');
      text[place] = c;
      RequireMarks(text);
    }
  }
}

TEST_CASE("EachMark finds the marks of texts of any length", "[kube][json_marks][property]") {
  Random random(3);
  for (std::size_t i = 0; i < 5000; ++i) {
    std::string text(random.Below(70), ' ');
    for (char& c : text) {
      c = random.Below(2) == 0 ? random.Pick(kMarks) : static_cast<char>(random.Below(256));
    }
    RequireMarks(text);
  }
}

TEST_CASE("EachMark ends where it is told to", "[kube][json_marks]") {
  std::size_t calls = 0;
  CHECK_FALSE(EachMark(R"({"a":1})", [&calls](std::size_t place) {
    ++calls;
    return place != 1;
  }));
  CHECK(calls == 2);
  CHECK(EachMark("{}", [](std::size_t) { return true; }));
}

}  // namespace
}  // namespace cnpa
