// SPDX-License-Identifier: Apache-2.0
#include "base/masked.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("Masked leaves out what differs when the same is said again", "[base][text]") {
  struct Case {
    std::string text;
    std::string want;
  };
  const std::vector<Case> cases{
      {"", ""},
      {"no number in it", "no number in it"},
      {"a port: 127.0.0.1:43296->127.0.0.1:46341", "a port: #->#"},
      {"[::1]:43296", "[::#]:#"},
      {"within 4.7 s", "within # s"},
      {"within 5 s", "within # s"},
      {"in 1m30.5s", "in #"},
      {"incident 550e8400-e29b-41d4-a716-446655440000.", "incident #."},
      {"incident abcdefab-cdef-abcd-efab-cdefabcdefab", "incident #"},
      {"at 2026-12-01T01:50:09Z", "at #"},
      {"at 2026-12-01 01:50:09.123456 +0000 UTC", "at # # # UTC"},
      {"Ray ID: 8f3a2b1c0d9e7f65", "Ray ID: #"},
      {"trace deadbeef, and cafe", "trace #, and cafe"},
      {"req-01HZY3Q8ABCD", "req-#"},
      {"commit 0xffab12", "commit #"},
      {"1/2/3", "#"},
      {"1 2", "# #"},
      {"n\xc3\xa4her als 3 km", "n\xc3\xa4her als # km"},
      {"-", "-"},
      {"a-b.c", "a-b.c"},
      {"#1", "#"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.text) {
      CHECK(Masked(c.text) == c.want);
      CHECK(Masked(c.want) == c.want);
    }
  }
  CHECK(Masked("pods 5 of 6") != Masked("secrets 5 of 6"));
}

}  // namespace
}  // namespace cnpa
