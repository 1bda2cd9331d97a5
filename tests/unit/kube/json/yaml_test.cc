// SPDX-License-Identifier: Apache-2.0
#include "kube/json/yaml.h"

#include <string>
#include <vector>

#include "base/text.h"
#include "support/catch.h"
#include "support/text.h"

namespace cnpa {
namespace {

YamlValue Parse(const std::string& text) {
  const auto value = ParseYaml(text);
  REQUIRE(value);
  return *value;
}

TEST_CASE("ParseYaml gives values with their lines; what is not there is null", "[kube][yaml]") {
  const YamlValue root = Parse("a: text\nb: \"true\"\nc:\n- 1\n- {d: e}\nn: ~\n");
  CHECK(root["a"].scalar == "text");
  CHECK_FALSE(root["a"].quoted);
  CHECK(root["b"].quoted);
  CHECK(root["b"].line == 2);
  CHECK(root["c"].items.size() == 2);
  CHECK(root["c"].items[1]["d"].scalar == "e");
  CHECK(root["c"].items[1]["d"].line == 5);
  CHECK_FALSE(root["n"].present());
  CHECK_FALSE(root["x"].present());
  CHECK_FALSE(root["a"]["x"].present());
  CHECK_FALSE(Parse("").present());
}

TEST_CASE("ParseYaml says what is wrong and where", "[kube][yaml]") {
  struct Case {
    std::string name;
    std::string text;
    int line;
    std::string want;
  };
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 8; ++i) {
    bomb.append("a").append(std::to_string(i)).append(": &a").append(std::to_string(i)).append(" [");
    for (int j = 0; j < 7; ++j) bomb.append("*a").append(std::to_string(i - 1)).append(",");
    bomb.append("]\n");
  }
  const std::vector<Case> cases{
      {"no YAML", "a: b\nc: [d\n", 3, "not YAML: "},
      {"a key twice", "a: b\nc: d\na: e\n", 3, "a: stands here twice"},
      {"a key that is a list", "[a, b]: c\n", 1, "a key is not a plain word"},
      {"too deep", std::string(100, '[') + std::string(100, ']'), 1, "it nests deeper than 64 levels"},
      {"an alias bomb", bomb, -1, "it is too large, perhaps by its aliases"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const auto value = ParseYaml(c.text);
      REQUIRE_FALSE(value);
      CAPTURE(value.error().what);
      CHECK(value.error().what.starts_with(c.want));
      if (c.line > 0) CHECK(value.error().line == c.line);
    }
  }
}

TEST_CASE("YamlToJson types plain scalars, and no quoted ones", "[kube][yaml]") {
  CHECK(YamlToJson(Parse("{a: 1, b: -2, c: 1.5, d: true, e: no, f: null, g: ~, h: '', i: text, j: 1x, k: 0x10}")) ==
        R"({"a":1,"b":-2,"c":1.5,"d":true,"e":false,"f":null,"g":null,"h":"","i":"text","j":"1x","k":16})");
  CHECK(YamlToJson(Parse("[\"1\", 'true', \"null\", [], {}]")) == R"(["1","true","null",[],{}])");
  CHECK(YamlToJson(Parse("a: |\n  two\n  lines\n")) == R"({"a":"two\nlines\n"})");
  CHECK(YamlToJson(Parse("[.nan, .inf, 1e999, 9223372036854775807, 9223372036854775808]")) ==
        R"([".nan",".inf","1e999",9223372036854775807,9223372036854776000.0])");
}

TEST_CASE("YamlToJson reads numbers as YAML 1.1 has them", "[kube][yaml]") {
  CHECK(YamlToJson(Parse("[010, 0o17, 0x1F, 0b11, 1_000, +5, -0x10, .5, 1e3, 089, 1-2, 0x, -, +, _, 1.2.3, 5.]")) ==
        R"([8,15,31,3,1000,5,-16,0.5,1000.0,89.0,"1-2","0x","-","+","_","1.2.3",5.0])");
}

TEST_CASE("IsText takes what is quoted, or has the looks of nothing else", "[kube][yaml]") {
  for (const char* text : {"a", "'1'", "\"true\"", "!!str 1", "1x", "2026-01-01", "''"}) CHECK(IsText(Parse(text)));
  for (const char* none : {"1", "0x1F", "1.5", "1e3", "true", "yes", "~", "[a]", "{a: b}"})
    CHECK_FALSE(IsText(Parse(none)));
}

TEST_CASE("ParseYaml merges the maps of <<; what stands beside it wins", "[kube][yaml]") {
  const YamlValue root = Parse("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [{x: 4}, *a], z: 5}\n'<<': text\n");
  CHECK(YamlToJson(root["b"]) == R"({"y":3,"x":1})");
  CHECK(YamlToJson(root["c"]) == R"({"z":5,"x":4,"y":2})");
  CHECK(root["<<"].scalar == "text");
  CHECK_FALSE(ParseYaml("<<: text"));
}

TEST_CASE("ToBool reads the switches of YAML 1.1", "[kube][yaml]") {
  for (const char* yes : {"true", "True", "TRUE", "yes", "on"}) CHECK(ToBool(Parse(yes)) == YamlBool::kTrue);
  for (const char* no : {"false", "No", "OFF"}) CHECK(ToBool(Parse(no)) == YamlBool::kFalse);
  for (const char* none : {"'true'", "1", "", "tRUE", "[true]"}) CHECK(ToBool(Parse(none)) == YamlBool::kNone);
}

TEST_CASE("JsonToYaml writes YAML that reads as the same JSON", "[kube][yaml]") {
  const std::string json =
      R"({"a":1,"b":"1","c":null,"d":"null","e":true,"f":"yes","g":[],"h":{},"i":["x: y","- z","#"],"j":{"k":"a\nb"},"l":1.5})";
  const std::string yaml = JsonToYaml(json);
  CHECK(yaml.starts_with("a: 1\nb: \"1\"\nc: ~\n"));
  const auto parsed = ParseYaml(yaml);
  REQUIRE(parsed);
  CHECK(YamlToJson(*parsed) == json);
  CHECK(JsonToYaml("{").starts_with("# "));
}

TEST_CASE("JsonToYaml writes nothing that a terminal obeys, and keeps each value", "[kube][yaml]") {
  const std::string yaml = JsonToYaml(R"({"a":"\u001b[31m\u009b\u007f\u202e \ud300","b":["\u2066"]})");
  CHECK(yaml == "a: \"\\x1b[31m\\x9b\\u007F\\u202E \ud300\"\nb:\n  - \"\\u2066\"\n");
  const auto value = ParseYaml(yaml);
  REQUIRE(value);
  CHECK((*value)["a"].scalar == "\x1b[31m\u009b\x7f\u202e \ud300");
}

}  // namespace
}  // namespace cnpa
