// SPDX-License-Identifier: Apache-2.0
#include "app/cli/config_file.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

using Values = std::vector<std::string>;

TEST_CASE("ReadConfigFile reads scalars and lists with their lines", "[app][config_file]") {
  const TempFolder folder;
  const auto settings = ReadConfigFile(folder.Write("config.yaml",
                                                    "# comment\ntimeout: 60s\nconcurrency: 8\n\n"
                                                    "only: [red, blue]\nallow-crd-deletion: true\n"));
  REQUIRE(ErrorOf(settings) == std::nullopt);
  REQUIRE(settings->size() == 4);
  CHECK(settings->at("timeout").values == Values{"60s"});
  CHECK_FALSE(settings->at("timeout").is_list);
  CHECK(settings->at("only").is_list);
  CHECK(settings->at("timeout").line == 2);
  CHECK(settings->at("concurrency").values == Values{"8"});
  CHECK(settings->at("only").values == Values{"red", "blue"});
  CHECK(settings->at("only").line == 5);
  CHECK(settings->at("allow-crd-deletion").values == Values{"true"});
}

TEST_CASE("ReadConfigFile takes an empty file as no settings", "[app][config_file]") {
  const TempFolder folder;
  for (const std::string text : {"", "\n", "# only a comment\n", "---\n", "{}"}) {
    const auto settings = ReadConfigFile(folder.Write("config.yaml", text));
    REQUIRE(ErrorOf(settings) == std::nullopt);
    CHECK(settings->empty());
  }
}

TEST_CASE("ReadConfigFile names file and line of what is wrong", "[app][config_file]") {
  const TempFolder folder;
  struct Case {
    std::string name;
    std::string text;
    std::string want;
  };
  const std::vector<Case> cases{
      {"a list", "- a\n", ":1: not a map of flags' names to values, such as 'timeout: 60s'"},
      {"a word", "hello", ":1: not a map of flags' names to values, such as 'timeout: 60s'"},
      {"a key without value", "a: 1\ntimeout:\n", ":2: timeout: has no value"},
      {"a map for a value", "timeout: {a: b}\n", ":1: timeout: has no value"},
      {"an empty list", "only: []\n", ":1: only: an empty list"},
      {"null in a list", "only:\n- red\n- null\n", ":3: only: an item without a value"},
      {"a tilde in a list", "only: [~]\n", ":1: only: an item without a value"},
      {"a map in a list", "only:\n- a: b\n", ":2: only: a map in a list"},
      {"a list in a list", "only:\n- red\n- [blue]\n", ":3: only: a list in a list"},
      {"a key twice", "timeout: 1s\na: b\ntimeout: 2s\n", ":3: timeout: stands here twice"},
      {"no YAML", "a: b\nc: [d\n", ": not YAML: "},
      {"a tab", "a:\n\tb: c\n", ": not YAML: "},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const std::string path = folder.Write("config.yaml", c.text);
      const auto error = ErrorOf(ReadConfigFile(path));
      REQUIRE(error);
      CHECK(error->code == ErrorCode::kInvalid);
      CAPTURE(error->message);
      CHECK(error->message.starts_with(path + ":"));
      CHECK(Contains(error->message, c.want));
    }
  }
}

TEST_CASE("ReadConfigFile tells a missing file from one that can't be read", "[app][config_file]") {
  const TempFolder folder;
  CHECK(ErrorOf(ReadConfigFile(folder.Path("none"))) ==
        Error{ErrorCode::kNotFound, "cannot read '" + folder.Path("none") + "': no such file or directory"});
  CHECK(ErrorOf(ReadConfigFile(folder.path())) ==
        Error{ErrorCode::kInvalid, "cannot read '" + folder.path() + "': is a directory"});
}

}  // namespace
}  // namespace cnpa
