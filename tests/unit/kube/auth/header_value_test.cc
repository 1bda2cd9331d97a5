// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/header_value.h"

#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("IsHeaderValue takes what Go would send", "[kube][header_value]") {
  for (const char* text : {"", "a", "a b", "a\tb", "\xC3\xA4", "\x80\xFF", "~!"}) CHECK(IsHeaderValue(text));
  CHECK_FALSE(IsHeaderValue(std::string_view("\0", 1)));
  for (char c = 1; c < ' '; ++c) CHECK(IsHeaderValue(std::string("a") + c) == (c == '\t'));
  CHECK_FALSE(IsHeaderValue("a\x7F"));
}

TEST_CASE("CheckHeaderValues names the field that can't be sent, and does not quote it", "[kube][header_value]") {
  const std::string bad = "s3cret\r\nX-Evil: 1";
  const std::vector<std::pair<std::string, Connection>> cases{
      {"token", {.token = bad}},
      {"as", {.impersonate = {.user = bad}}},
      {"as-uid", {.impersonate = {.user = "a", .uid = bad}}},
      {"as-groups", {.impersonate = {.user = "a", .groups = {"g", bad}}}},
      {"as-user-extra", {.impersonate = {.user = "a", .extra = {{"k", "v"}, {"k", bad}}}}},
  };
  for (const auto& [field, connection] : cases) {
    CHECK(ErrorOf(CheckHeaderValues(connection)) ==
          Error{ErrorCode::kInvalid, field + ": has a line break or another control character in it"});
  }
  // In base64 anything goes, and names of headers are escaped.
  CHECK(CheckHeaderValues({.username = bad, .password = bad, .impersonate = {.user = "a", .extra = {{bad, "v"}}}}));
}

}  // namespace
}  // namespace cnpa
