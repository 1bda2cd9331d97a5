// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/random.h"

namespace cnpa {
namespace {

TEST_CASE("DecodeBase64 decodes what RFC 4648 lists", "[base][base64]") {
  struct Case {
    std::string text;
    std::string want;
  };
  const std::vector<Case> cases{
      {"", ""},
      {"Zg==", "f"},
      {"Zm8=", "fo"},
      {"Zm9v", "foo"},
      {"Zm9vYg==", "foob"},
      {"Zm9vYmE=", "fooba"},
      {"Zm9vYmFy", "foobar"},
      {"AAAA", std::string(3, '\0')},
      {"+/+/", "\xfb\xff\xbf"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION("'" << c.text << "'") {
      CHECK(DecodeBase64(c.text) == c.want);
    }
  }
}

TEST_CASE("DecodeBase64 skips line breaks and blanks", "[base][base64]") {
  CHECK(DecodeBase64("Zm9v\nYmFy\n") == "foobar");
  CHECK(DecodeBase64("  Zm9v\r\n\tYmFy  ") == "foobar");
  CHECK(DecodeBase64(" \n\t ") == "");
  CHECK(DecodeBase64("Zg=\n=") == "f");
}

TEST_CASE("DecodeBase64 refuses what is not base64", "[base][base64]") {
  const Error not_base64{ErrorCode::kInvalid, "not base64"};
  const Error cut{ErrorCode::kInvalid, "not base64: it ends in the middle of a group"};
  struct Case {
    std::string name;
    std::string text;
    Error want;
  };
  const std::vector<Case> cases{
      {"a letter of another alphabet", "Zm9-", not_base64},
      {"a byte beyond ASCII", "Zm9\xc3", not_base64},
      {"a NUL", std::string("Zm9\0", 4), not_base64},
      {"digits behind the padding", "Zg==Zm9v", not_base64},
      {"one digit", "Z", cut},
      {"two digits without padding", "Zm", cut},
      {"three digits without padding", "Zm9", cut},
      {"two digits with half of the padding", "Zg=", cut},
      {"too much padding", "Zg===", cut},
      {"padding behind a whole group", "Zm9v=", cut},
      {"padding alone", "====", cut},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ErrorOf(DecodeBase64(c.text)) == c.want);
    }
  }
}

/// Encodes by the book: bit by bit, six at a time.
std::string EncodeSlowly(const std::string& bytes) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bits;
  for (const char c : bytes) {
    for (unsigned bit = 8; bit-- > 0;) bits += ((static_cast<unsigned char>(c) >> bit) & 1U) != 0U ? '1' : '0';
  }
  while (bits.size() % 6 != 0) bits += '0';
  std::string text;
  for (std::size_t i = 0; i < bits.size(); i += 6)
    text += digits[static_cast<std::size_t>(std::stoi(bits.substr(i, 6), nullptr, 2))];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

TEST_CASE("EncodeBase64 encodes what RFC 4648 lists", "[base][base64]") {
  for (const auto& [bytes, text] : std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                                                    {"f", "Zg=="},
                                                                                    {"fo", "Zm8="},
                                                                                    {"foo", "Zm9v"},
                                                                                    {"foob", "Zm9vYg=="},
                                                                                    {"fooba", "Zm9vYmE="},
                                                                                    {"foobar", "Zm9vYmFy"},
                                                                                    {"\xfb\xff\xfe", "+//+"}}) {
    CHECK(EncodeBase64(bytes) == text);
  }
}

TEST_CASE("DecodeBase64 undoes an encoder, whatever the bytes", "[base][base64]") {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    std::string bytes(random.Below(40), '\0');
    for (char& c : bytes) c = static_cast<char>(random.Below(256));
    const std::string text = EncodeSlowly(bytes);
    CAPTURE(text);
    REQUIRE(DecodeBase64(text) == bytes);
  }
}

}  // namespace
}  // namespace cnpa
