// SPDX-License-Identifier: Apache-2.0
#include "kube/json/json.h"

#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

/// A parsed text that lives as long as its readers.
struct Parsed {
  explicit Parsed(std::string json) : text(std::move(json)), status(document.Parse(text)) {}
  JsonReader root() { return document.root(); }

  std::string text;
  JsonDocument document;
  Status status;
};

Error Malformed(const std::string& message) {
  return {ErrorCode::kMalformed, message};
}

TEST_CASE("JsonReader reads members of every type", "[kube][json]") {
  Parsed parsed(R"({"s":"text","e":"","i":-5,"o":{"k":"v"},"l":["a","b"],"n":null,
                    "objects":[{"k":"1"},{"k":"2"}],"m":{"x":"1","y":"2"}})");
  const JsonReader root = parsed.root();
  CHECK(root.String("s") == "text");
  CHECK(root.OptionalString("s") == "text");
  CHECK(root.StringIfPresent("e") == "");
  CHECK(root.IntIfPresent("i") == -5);
  CHECK(root.Object("o").String("k") == "v");
  CHECK(root.Strings("l") == std::vector<std::string>{"a", "b"});
  const std::vector<JsonReader> objects = root.Objects("objects");
  REQUIRE(objects.size() == 2);
  CHECK(objects[1].String("k") == "2");
  std::string members;
  root.EachString("m", [&members](std::string_view key, std::string_view value) {
    members.append(key).append("=").append(value).append(";");
  });
  CHECK(members == "x=1;y=2;");
  std::string keys;
  root.Object("o").EachKey([&keys](std::string_view key) { keys += key; });
  CHECK(keys == "k");
  CHECK(root.Has("s"));
  CHECK(ErrorOf(parsed.document.status()) == std::nullopt);
}

TEST_CASE("JsonReader takes absent and null as the same", "[kube][json]") {
  for (const std::string member : {"absent", "null"}) {
    CAPTURE(member);
    Parsed parsed(R"({"null":null})");
    const JsonReader root = parsed.root();
    CHECK_FALSE(root.Has(member));
    CHECK_FALSE(root.Object(member).present());
    CHECK(root.OptionalString(member).empty());
    CHECK(root.StringIfPresent(member) == std::nullopt);
    CHECK(root.IntIfPresent(member) == std::nullopt);
    CHECK(root.Strings(member).empty());
    CHECK(root.Objects(member).empty());
    CHECK_FALSE(root.HasMembers(member));
    root.EachString(member, [](std::string_view, std::string_view) { FAIL("nothing to visit"); });
    root.Object(member).EachKey([](std::string_view) { FAIL("nothing to visit"); });
    CHECK(root.Object(member).Object("deeper").OptionalString("x").empty());
    CHECK(ErrorOf(parsed.document.status()) == std::nullopt);
  }
}

TEST_CASE("JsonReader names the path of what is wrong", "[kube][json]") {
  struct Case {
    std::string name;
    std::string text;
    void (*read)(const JsonReader& root);
    std::string want;
  };
  const std::vector<Case> cases{
      {"a required string is absent", "{}", [](const JsonReader& r) { r.String("a"); }, "'a' is missing"},
      {"a required string is empty", R"({"a":""})", [](const JsonReader& r) { r.String("a"); }, "'a' is missing"},
      {"a required string below an absent object", "{}",
       [](const JsonReader& r) {
         const JsonReader a = r.Object("a");
         a.Object("b").String("c");
       },
       "'a.b.c' is missing"},
      {"a number for a string", R"({"metadata":{"name":1}})",
       [](const JsonReader& r) { r.Object("metadata").String("name"); }, "'metadata.name' is not a string"},
      {"a string for an object", R"({"a":"b"})", [](const JsonReader& r) { r.Object("a"); }, "'a' is not an object"},
      {"a list for an object", R"({"a":{"b":[]}})", [](const JsonReader& r) { r.Object("a").Object("b"); },
       "'a.b' is not an object"},
      {"a string for an integer", R"({"a":"1"})", [](const JsonReader& r) { r.IntIfPresent("a"); },
       "'a' is not an integer of 64 bits"},
      {"a fraction", R"({"a":1.0})", [](const JsonReader& r) { r.IntIfPresent("a"); },
       "'a' is not an integer of 64 bits"},
      {"2^63", R"({"a":9223372036854775808})", [](const JsonReader& r) { r.IntIfPresent("a"); },
       "'a' is not an integer of 64 bits"},
      {"a map's member is no string", R"({"metadata":{"labels":{"x":"1","a":2}}})",
       [](const JsonReader& r) {
         r.Object("metadata").EachString("labels", [](std::string_view, std::string_view) {});
       },
       "'metadata.labels.a' is not a string"},
      {"an object for a list of objects", R"({"a":{}})", [](const JsonReader& r) { r.Objects("a"); },
       "'a' is not a list"},
      {"a list holds something else", R"({"a":{"b":[{},1]}})", [](const JsonReader& r) { r.Object("a").Objects("b"); },
       "'a.b[1]' is not an object"},
      {"a field of an element", R"({"a":{"b":[{"c":"1"},{"c":2}]}})",
       [](const JsonReader& r) {
         const JsonReader a = r.Object("a");
         for (const JsonReader& element : a.Objects("b")) element.String("c");
       },
       "'a.b[1].c' is not a string"},
      {"an object for a list of strings", R"({"a":{}})", [](const JsonReader& r) { r.Strings("a"); },
       "'a' is not a list"},
      {"a list of strings holds a number", R"({"a":["b",1]})", [](const JsonReader& r) { r.Strings("a"); },
       "'a' holds something that is not a string"},
      {"a string where members are counted", R"({"a":"b"})", [](const JsonReader& r) { r.HasMembers("a"); },
       "'a' is not a list"},
      {"what the caller finds wrong", R"({"a":{"b":1}})",
       [](const JsonReader& r) { r.Object("a").Fail("b", "is odd"); }, "'a.b' is odd"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Parsed parsed(c.text);
      c.read(parsed.root());
      CHECK(ErrorOf(parsed.document.status()) == Malformed(c.want));
    }
  }
}

TEST_CASE("JsonReader is sticky: the first fault is the one to tell", "[kube][json]") {
  Parsed parsed(R"({"a":1,"b":2,"c":"fine"})");
  const JsonReader root = parsed.root();
  CHECK(root.String("a").empty());
  CHECK(root.String("b").empty());
  CHECK(root.String("c") == "fine");  // Reading goes on.
  CHECK(ErrorOf(parsed.document.status()) == Malformed("'a' is not a string"));
}

TEST_CASE("JsonReader::HasMembers tells a list with elements and any object", "[kube][json]") {
  Parsed parsed(R"({"empty":[],"list":[0],"object":{}})");
  CHECK_FALSE(parsed.root().HasMembers("empty"));
  CHECK(parsed.root().HasMembers("list"));
  CHECK(parsed.root().HasMembers("object"));
}

TEST_CASE("JsonReader::IsTrue takes nothing but true", "[kube][json]") {
  Parsed parsed(R"({"yes":true,"no":false,"text":"true","one":1,"null":null})");
  CHECK(parsed.root().IsTrue("yes"));
  for (const std::string key : {"no", "text", "one", "null", "absent"}) {
    CAPTURE(key);
    CHECK_FALSE(parsed.root().IsTrue(key));
  }
}

TEST_CASE("JsonReader::IsZeros wants as many zeros as items were taken out", "[kube][json]") {
  Parsed parsed(R"({"none":[],"two":[0,0],"one":[0,1],"float":[0.0],"text":["0"],"map":{},"null":null})");
  const JsonReader root = parsed.root();
  CHECK(root.IsZeros("none", 0));
  CHECK(root.IsZeros("two", 2));
  CHECK_FALSE(root.IsZeros("two", 1));
  CHECK_FALSE(root.IsZeros("two", 3));
  CHECK_FALSE(root.IsZeros("one", 2));
  CHECK_FALSE(root.IsZeros("float", 1));
  CHECK_FALSE(root.IsZeros("text", 1));
  CHECK_FALSE(root.IsZeros("map", 0));
  CHECK_FALSE(root.IsZeros("null", 0));
  CHECK_FALSE(root.IsZeros("absent", 0));
}

TEST_CASE("JsonDocument::Parse refuses what is not a JSON object", "[kube][json]") {
  struct Case {
    std::string name;
    std::string text;
    std::string want;
  };
  const std::vector<Case> cases{
      {"nothing", "", "not JSON at byte 0: The document is empty."},
      {"a list", "[]", "not a JSON object"},
      {"a string", R"("a")", "not a JSON object"},
      {"null", "null", "not a JSON object"},
      {"words", "404 page not found", "not JSON at byte 4: The document root must not be followed by other values."},
      {"cut off", R"({"a":)", "not JSON at byte 5: Invalid value."},
      {"more behind it", "{} {}", "not JSON at byte 3: The document root must not be followed by other values."},
      {"a comma too many", R"({"a":1,})", "not JSON at byte 7: Missing a name for object member."},
      {"a comment", "{/**/}", "not JSON at byte 1: Missing a name for object member."},
      {"a NUL behind the end", std::string("{}\0{}", 5), "not JSON: it holds a NUL"},
      {"a NUL within", std::string("{\"a\":\"b\0c\"}", 11), "not JSON: it holds a NUL"},
      {"invalid UTF-8", "{\"a\":\"\xff\"}", "not JSON at byte 6: Invalid encoding in string."},
      {"overlong UTF-8", "{\"a\":\"\xc0\xaf\"}", "not JSON at byte 6: Invalid encoding in string."},
      {"a surrogate in UTF-8", "{\"a\":\"\xed\xa0\x80\"}", "not JSON at byte 6: Invalid encoding in string."},
      {"an end within a character, too long for a short string", "{\"a\":\"sixteen and more\xf0",
       "not JSON at byte 6: Invalid encoding in string."},
      {"half of a surrogate pair", R"({"a":"\ud800"})", "not JSON at byte 6: The surrogate pair in string is invalid."},
      {"the other half", R"({"a":"\\\uDC00"})", "not JSON: half a character is escaped"},
      {"the other half behind a pair", R"({"\ud83d\ude00\udfff":1})", "not JSON: half a character is escaped"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Parsed parsed(c.text);
      REQUIRE(ErrorOf(parsed.status));
      CHECK(parsed.status.error().code == ErrorCode::kMalformed);
      // Bytes are RapidJSON's; the words are what a reader gets.
      CHECK(parsed.status.error().message.substr(0, 8) == c.want.substr(0, 8));
      const std::size_t words = c.want.rfind(": ");
      if (words != std::string::npos) {
        CHECK(parsed.status.error().message.ends_with(c.want.substr(words)));
      }
    }
  }
}

TEST_CASE("JsonDocument refuses an invalid byte wherever it stands", "[kube][json]") {
  for (std::size_t length = 1; length < 40; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      CAPTURE(length, place);
      std::string value(length, 'x');
      value[place] = '\xff';
      std::string text = R"({"a":")" + value + R"("})";
      JsonDocument document;
      REQUIRE(ErrorOf(document.Parse(text)) ==
              Error{ErrorCode::kMalformed,
                    "not JSON at byte " + std::to_string(6 + place) + ": Invalid encoding in string."});
    }
  }
}

TEST_CASE("JsonDocument::Parse keeps an escaped NUL, escapes and characters of all planes", "[kube][json]") {
  Parsed parsed(R"({"a":"x\u0000y","b":"\"\\\/\n\u00e4\ud83d\ude00","ä":"€"})");
  CHECK(parsed.root().String("a") == std::string("x\0y", 3));
  CHECK(parsed.root().String("b") == "\"\\/\n\xc3\xa4\xf0\x9f\x98\x80");
  CHECK(parsed.root().String("\xc3\xa4") == "\xe2\x82\xac");
  CHECK(Parsed(R"({"a":"\\ude00"})").root().String("a") == "\\ude00");
}

TEST_CASE("JsonDocument can be used again after a failure", "[kube][json]") {
  JsonDocument document;
  std::string bad = "{";
  std::string good = R"({"a":"b"})";
  CHECK_FALSE(document.Parse(bad));
  CHECK(document.Parse(good));
  CHECK(document.root().String("a") == "b");
  document.root().String("none");
  CHECK_FALSE(document.status());
  std::string other = "{}";
  CHECK(document.Parse(other));
  CHECK(document.status());
}

TEST_CASE("WithinDepth counts objects and lists up to 64, not what is in strings", "[kube][json]") {
  CHECK(WithinDepth(std::string(64, '[') + std::string(64, ']')));
  CHECK_FALSE(WithinDepth(std::string(65, '[') + std::string(65, ']')));
  std::string objects;
  for (int i = 0; i < 65; ++i) objects += R"({"a":)";
  CHECK_FALSE(WithinDepth(objects));
  CHECK(WithinDepth("\"" + std::string(1000, '[') + "\""));
  CHECK(WithinDepth(R"("\")" + std::string(1000, '[') + "\""));
  CHECK_FALSE(WithinDepth(R"("\\")" + std::string(1000, '[')));
  CHECK(WithinDepth("[][][][]" + std::string(64, '[')));
}

}  // namespace
}  // namespace cnpa
