// SPDX-License-Identifier: Apache-2.0
#include "base/shell.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("ShellWord quotes what a shell would not take for one word", "[base][shell]") {
  struct Case {
    std::string text;
    std::string want;
  };
  const std::vector<Case> cases{
      {"jane@example.com", "jane@example.com"},
      {"/var/lib/a,b=c+d%e", "/var/lib/a,b=c+d%e"},
      {"", "''"},
      {"a b", "'a b'"},
      {"O'Neill; rm -rf", R"('O'\''Neill; rm -rf')"},
      {"$(id)", "'$(id)'"},
      {"~", "'~'"},
      {"ü", "'ü'"},
  };
  for (const Case& c : cases) CHECK(ShellWord(c.text) == c.want);
}

}  // namespace
}  // namespace cnpa
