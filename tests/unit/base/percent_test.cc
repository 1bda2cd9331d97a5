// SPDX-License-Identifier: Apache-2.0
#include "base/percent.h"

#include <string>

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("PercentEncode leaves letters, digits and the given marks", "[base][percent]") {
  CHECK(PercentEncode("azAZ09-_.~ /%", "-_.") == "azAZ09-_.%7E%20%2F%25");
  CHECK(PercentEncode("a-b", "") == "a%2Db");
  CHECK(PercentEncode("\xc3\xa9", "") == "%C3%A9");
  CHECK(PercentEncode("", "").empty());
}

TEST_CASE("PercentDecode undoes it, and takes no '%' without its digits", "[base][percent]") {
  CHECK(PercentDecode("a%41%2f%2Fb") == "aA//b");
  CHECK(PercentDecode(PercentEncode(std::string("\x00\x7f\xff%", 4), "")) == std::string("\x00\x7f\xff%", 4));
  for (const char* wrong : {"%", "%4", "%zz", "%4g", "%-1", "%+1", "%%41"}) CHECK(PercentDecode(wrong) == std::nullopt);
}

}  // namespace
}  // namespace cnpa
