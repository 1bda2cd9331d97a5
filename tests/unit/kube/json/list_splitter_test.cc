// SPDX-License-Identifier: Apache-2.0
#include "kube/json/list_splitter.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "kube/codec/codec.h"
#include "kube/json/json.h"
#include "support/catch.h"
#include "support/random.h"

namespace cnpa {
namespace {

/// What became of a list: its items and envelope, or why it was refused.
struct Outcome {
  std::vector<std::string> items;
  std::string envelope;
  std::optional<Error> error;

  bool operator==(const Outcome&) const = default;
};

Outcome Split(const std::vector<std::string_view>& pieces) {
  Outcome outcome;
  ListSplitter splitter([&outcome](std::string& item) -> Status {
    outcome.items.push_back(item);
    return {};
  });
  for (const std::string_view piece : pieces) {
    if (Status fed = splitter.Feed(piece); !fed) {
      outcome.error = fed.error();
      return outcome;
    }
  }
  Result<std::string> envelope = splitter.Finish();
  if (!envelope) {
    outcome.error = envelope.error();
    return outcome;
  }
  outcome.envelope = *envelope;
  if (const auto decoded = DecodeEnvelope(*envelope, kNamespaces, splitter.items()); !decoded)
    outcome.error = decoded.error();
  return outcome;
}

Outcome Split(std::string_view text) {
  return Split(std::vector{text});
}

const std::string kList =
    R"({"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"7","items":[{"no":1}]},)"
    R"("items":[{"a":"}]\"{[","b":{"items":[{"c":[1,2]}]}},{"\\":"\\"},{}]})";
const std::vector<std::string> kItems{R"({"a":"}]\"{[","b":{"items":[{"c":[1,2]}]}})", R"({"\\":"\\"})", "{}"};
const std::string kEnvelope =
    R"({"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"7","items":[{"no":1}]},)"
    R"("items":[0,0,0]})";

TEST_CASE("ListSplitter takes the items out and leaves the envelope", "[kube][list_splitter]") {
  CHECK(Split(kList) == Outcome{kItems, kEnvelope, std::nullopt});
}

TEST_CASE("ListSplitter gives the same items wherever the bytes are cut in two", "[kube][list_splitter]") {
  const Outcome want{kItems, kEnvelope, std::nullopt};
  const std::string_view list = kList;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    CAPTURE(i);
    REQUIRE(Split({list.substr(0, i), list.substr(i)}) == want);
  }
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < list.size(); ++i) bytes.push_back(list.substr(i, 1));
  CHECK(Split(bytes) == want);
}

TEST_CASE("ListSplitter gives the same items wherever the bytes are cut in three, and wherever a block begins",
          "[kube][list_splitter]") {
  const std::string list = R"({"items":[{"a":"\\\"}\\"},{"b":["{\""]}],"c":"\""})";
  const std::vector<std::string> items{R"({"a":"\\\"}\\"})", R"({"b":["{\""]})"};
  for (std::size_t blanks = 0; blanks < 32; ++blanks) {
    const std::string text = std::string(blanks, ' ') + list;
    const std::string_view view = text;
    for (std::size_t first = 0; first <= text.size(); ++first) {
      for (std::size_t second = first; second <= text.size(); ++second) {
        CAPTURE(blanks, first, second);
        REQUIRE(Split({view.substr(0, first), view.substr(first, second - first), view.substr(second)}).items == items);
      }
    }
  }
}

TEST_CASE("ListSplitter takes blanks, line breaks and members in any order", "[kube][list_splitter]") {
  const std::string list =
      " {\n \"items\" : \r\n\t[ { \"a\" : 1 } , {} ] ,\n\"metadata\":{\"resourceVersion\":\"1\"},"
      "\"apiVersion\":\"v1\",\"kind\":\"NamespaceList\"}\n";
  const Outcome outcome = Split(list);
  CHECK(outcome.error == std::nullopt);
  CHECK(outcome.items == std::vector<std::string>{"{ \"a\" : 1 }", "{}"});
}

TEST_CASE("ListSplitter finds no items in an empty list, and in null, as Go writes it", "[kube][list_splitter]") {
  for (const std::string items : {"[]", "null"}) {
    const Outcome outcome =
        Split(R"({"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":)" + items + "}");
    CHECK(outcome.error == std::nullopt);
    CHECK(outcome.items.empty());
  }
}

TEST_CASE("ListAllowance is for all pages of a list", "[kube][list_splitter]") {
  ListAllowance allowance{.bytes = 100, .items = 10};
  CHECK(allowance.Take(60, 4));
  CHECK(allowance.Take(40, 6));
  CHECK(allowance.Take(0, 0));
  CHECK(ErrorOf(allowance.Take(1, 0)) ==
        Error{ErrorCode::kMalformed, "the list is too large: it has more bytes than are taken"});
  CHECK(ErrorOf(allowance.Take(0, 1)) ==
        Error{ErrorCode::kMalformed, "the list is too large: it has more objects than are taken"});
}

std::string ListWith(const std::string& items) {
  return R"({"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"1"},)" + items + "}";
}

TEST_CASE("ListSplitter is not led astray by the word items elsewhere", "[kube][list_splitter]") {
  struct Case {
    std::string name;
    std::string text;
    std::vector<std::string> want;
  };
  const std::vector<Case> cases{
      {"in a string", ListWith(R"("x":"\"items\":[{}","items":[{"a":1}])"), {R"({"a":1})"}},
      {"as the end of another key", ListWith(R"("\"items":[{"b":1}],"items":[{"a":1}])"), {R"({"a":1})"}},
      {"as a value", ListWith(R"("x":"items","y":[{"b":1}],"items":[{"a":1}])"), {R"({"a":1})"}},
      {"deeper", ListWith(R"("x":{"items":[{"b":1}]},"items":[{"a":1}])"), {R"({"a":1})"}},
      {"in an item", ListWith(R"("items":[{"items":[{"b":1}]}])"), {R"({"items":[{"b":1}]})"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const Outcome outcome = Split(c.text);
      CHECK(outcome.error == std::nullopt);
      CHECK(outcome.items == c.want);
    }
  }
}

TEST_CASE("ListSplitter and DecodeEnvelope refuse a list that is broken in any way", "[kube][list_splitter]") {
  const std::string not_objects = "'items' is not a list of objects";
  struct Case {
    std::string name;
    std::string text;
    std::string want;  // "" where the words are RapidJSON's.
  };
  const std::vector<Case> cases{
      {"nothing", "", "empty answer"},
      {"blanks", " \n", ""},
      {"words", "404 page not found", ""},
      {"a bracket too many", kList + "}", "not a list: a bracket too many"},
      {"something behind it", kList + "1", ""},
      {"another list behind it", kList + kList, ""},
      {"a list at its root", "[" + kList + "]", ""},
      {"no items", ListWith(R"("x":1)"), not_objects},
      {"items null, and some behind", ListWith(R"("items":null,"items":[{"a":1}])"), ""},
      {"items null twice", ListWith(R"("items":null,"items":null)"), "'items' is there twice"},
      {"items an object", ListWith(R"("items":{"a":{}})"), not_objects},
      {"items a number", ListWith(R"("items":0)"), not_objects},
      {"an escaped key", ListWith(R"("\u0069tems":[{"a":1}])"), not_objects},
      {"a zero among the items", ListWith(R"("items":[{"a":1},0])"), not_objects},
      {"only a zero", ListWith(R"("items":[0])"), not_objects},
      {"a null among the items", ListWith(R"("items":[{"a":1},null])"), not_objects},
      {"a string among the items", ListWith(R"("items":["a"])"), not_objects},
      {"a list among the items", ListWith(R"("items":[[{"a":1}]])"), not_objects},
      {"two items keys", ListWith(R"("items":[{"a":1}],"items":[{"b":1}])"), ""},
      {"two items keys, the first empty", ListWith(R"("items":[],"items":[{"b":1}])"), ""},
      {"two items keys, the second empty", ListWith(R"("items":[{"a":1}],"items":[])"), ""},
      {"two items keys, the second null", ListWith(R"("items":[{"a":1}],"items":null)"), ""},
      {"two items keys, the second escaped", ListWith(R"("items":[{"a":1}],"\u0069tems":[])"), ""},
      {"a minus before an item", ListWith(R"("items":[-{"a":1}])"), "not a list: something stands before an item"},
      {"a digit before an item", ListWith(R"("items":[1 {"a":1}])"), "not a list: something stands before an item"},
      {"no comma between items", ListWith(R"("items":[{"a":1}{"b":1}])"), ""},
      {"a comma too many", ListWith(R"("items":[{"a":1},])"), ""},
      {"no bracket at the end of the items", ListWith(R"("items":[{"a":1})"), "the answer ends in the middle"},
      {"a NUL", ListWith(std::string("\"x\":\0,\"items\":[]", 16)), "not JSON: it holds a NUL"},
      {"invalid UTF-8", ListWith("\"x\":\"\xff\",\"items\":[]"), ""},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const Outcome outcome = Split(c.text);
      REQUIRE(outcome.error);
      CHECK(outcome.error->code == ErrorCode::kMalformed);
      if (!c.want.empty()) {
        CHECK(outcome.error->message == c.want);
      }
    }
  }
}

TEST_CASE("ListSplitter refuses every list that ends in the middle", "[kube][list_splitter]") {
  for (std::size_t length = 0; length < kList.size(); ++length) {
    CAPTURE(length);
    const Outcome outcome = Split(std::string_view(kList).substr(0, length));
    REQUIRE(outcome.error ==
            Error{ErrorCode::kMalformed, length == 0 ? "empty answer" : "the answer ends in the middle"});
  }
}

TEST_CASE("ListSplitter refuses text nested too deep before it is kept", "[kube][list_splitter]") {
  const Error want{ErrorCode::kMalformed, "not a list: nested too deep"};
  CHECK(Split(std::string(65, '[')).error == want);
  CHECK(Split(ListWith("\"items\":[" + std::string(100, '{'))).error == want);
  CHECK(Split(ListWith("\"items\":[{\"a\":" + std::string(61, '[') + std::string(61, ']') + "}]")).error ==
        std::nullopt);
  CHECK(Split(ListWith("\"items\":[{\"a\":" + std::string(62, '[') + std::string(62, ']') + "}]")).error == want);
}

TEST_CASE("ListSplitter bounds an item and what stands beside the items", "[kube][list_splitter]") {
  const std::string large((std::size_t{8} << 20U) + 1, 'x');
  CHECK(Split(ListWith("\"items\":[{\"a\":\"" + large + "\"}]")).error ==
        Error{ErrorCode::kMalformed, "not a list: an item is too large"});
  CHECK(Split(ListWith("\"x\":\"" + large + "\",\"items\":[]")).error ==
        Error{ErrorCode::kMalformed, "not a list: too much beside its items"});
}

TEST_CASE("ListSplitter ends the list with the error of an item", "[kube][list_splitter]") {
  int calls = 0;
  ListSplitter splitter([&calls](std::string&) -> Status {
    ++calls;
    return Fail(ErrorCode::kMalformed, "no name");
  });
  CHECK(ErrorOf(splitter.Feed(kList)) == Error{ErrorCode::kMalformed, "no name"});
  CHECK(calls == 1);
}

TEST_CASE("ListSplitter lets an item be parsed in place", "[kube][list_splitter]") {
  JsonDocument document;
  std::string values;
  ListSplitter splitter([&](std::string& item) -> Status {
    if (Status parsed = document.Parse(item); !parsed) return parsed;
    values += document.root().String("a");
    return {};
  });
  REQUIRE(splitter.Feed(ListWith(R"("items":[{"a":"one\n"},{"a":"two"}])")));
  CHECK(splitter.Finish() == ListWith(R"("items":[0,0])"));
  CHECK(values == "one\ntwo");
}

std::string Compact(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return buffer.GetString();
}

/// The items of a list as one whole parse sees them, or nothing where it is no list of objects.
std::optional<std::vector<std::string>> ItemsOfWhole(const std::string& text) {
  rapidjson::Document whole;
  whole.Parse<rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
  if (whole.HasParseError() || !whole.IsObject() || !whole.HasMember("items")) return std::nullopt;
  if (!whole["items"].IsArray()) return std::nullopt;
  std::vector<std::string> items;
  for (const rapidjson::Value& item : whole["items"].GetArray()) {
    if (!item.IsObject()) return std::nullopt;
    items.push_back(Compact(item));
  }
  return items;
}

TEST_CASE("ListSplitter never takes a list otherwise than a parse of the whole does",
          "[kube][list_splitter][property]") {
  Random random(7);
  const std::string alphabet = "\"{}[]:,\\ 01items";
  std::size_t accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = kList;
    for (std::size_t edits = 1 + random.Below(3); edits > 0; --edits) {
      const std::size_t place = random.Below(text.size());
      switch (random.Below(4)) {
        case 0: text.erase(place, 1); break;
        case 1: text.insert(place, 1, random.Pick(alphabet)); break;
        case 2: text[place] = random.Pick(alphabet); break;
        default: text.insert(place, text.substr(random.Below(text.size()), random.Below(12))); break;
      }
    }
    const Outcome outcome = Split(text);
    if (outcome.error) continue;
    std::vector<std::string> items;
    bool parsed = true;
    for (const std::string& item : outcome.items) {
      rapidjson::Document document;
      document.Parse<rapidjson::kParseValidateEncodingFlag>(item.data(), item.size());
      parsed = parsed && !document.HasParseError();
      if (parsed) items.push_back(Compact(document));
    }
    if (!parsed) continue;  // The decoder of the item refuses it.
    ++accepted;
    CAPTURE(text);
    REQUIRE(ItemsOfWhole(text) == items);
  }
  CHECK(accepted > 500);
}

}  // namespace
}  // namespace cnpa
