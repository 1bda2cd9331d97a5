// SPDX-License-Identifier: Apache-2.0
#include "kube/json/json_writer.h"

#include <cstdint>
#include <limits>
#include <string>

#include "kube/json/json.h"
#include "support/catch.h"

namespace cnpa {
namespace {

void WriteSample(JsonWriter& writer) {
  writer.Object([&] {
    writer.String("s", "text");
    writer.Int("i", -1);
    writer.Object("o", [] {});
    writer.Array("a", [&] {
      writer.String("x");
      writer.Int(2);
      writer.Null();
      writer.Object([&] { writer.String("k", "v"); });
      writer.Array([] {});
    });
    writer.Key("n");
    writer.Null();
  });
}

TEST_CASE("JsonWriter writes members in the order in which they come", "[kube][json_writer]") {
  JsonWriter writer;
  WriteSample(writer);
  CHECK(writer.text() == R"({"s":"text","i":-1,"o":{},"a":["x",2,null,{"k":"v"},[]],"n":null})");
}

TEST_CASE("JsonWriter indents by two blanks where people read it", "[kube][json_writer]") {
  JsonWriter writer(JsonWriter::Layout::kIndented);
  writer.Object([&] {
    writer.String("a", "b");
    writer.Array("c", [&] { writer.Int(1); });
  });
  CHECK(writer.text() == "{\n  \"a\": \"b\",\n  \"c\": [\n    1\n  ]\n}");
}

TEST_CASE("JsonWriter escapes what JSON asks for and keeps UTF-8", "[kube][json_writer]") {
  JsonWriter writer;
  writer.Array([&] {
    writer.String("\"\\\n\t\x01");
    writer.String(std::string_view("a\0b", 3));
    writer.String("\xc3\xa4\xf0\x9f\x98\x80");
  });
  CHECK(writer.text() == R"(["\"\\\n\t\u0001","a\u0000b",")"
                         "\xc3\xa4\xf0\x9f\x98\x80\"]");
}

TEST_CASE("JsonWriter writes UTF-8 that no terminal obeys, and that reads as what was given", "[kube][json_writer]") {
  JsonWriter writer;
  writer.Object([&] {
    writer.String("k\x1b", "f\xfcr\x80");
    writer.String("c1", "\u009b31m\x7f\u00a0");
    writer.String("bidi", "\u202Ea\u2066\u200f");
  });
  std::string text = writer.text();
  CHECK(text == R"({"k\u001B":"f)"
                "\uFFFDr\uFFFD"
                R"(","c1":"\u009B31m\u007F)"
                "\u00a0"
                R"(","bidi":"\u202Ea\u2066)"
                "\u200f\"}");
  JsonDocument document;
  REQUIRE(document.Parse(text));
  CHECK(document.root().String("c1") == "\u009b31m\x7f\u00a0");
  CHECK(document.root().String("bidi") == "\u202Ea\u2066\u200f");
}

TEST_CASE("JsonWriter writes all integers of 64 bits", "[kube][json_writer]") {
  JsonWriter writer;
  writer.Array([&] {
    writer.Int(std::numeric_limits<std::int64_t>::min());
    writer.Int(std::numeric_limits<std::int64_t>::max());
  });
  CHECK(writer.text() == "[-9223372036854775808,9223372036854775807]");
}

}  // namespace
}  // namespace cnpa
