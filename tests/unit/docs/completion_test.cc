// SPDX-License-Identifier: Apache-2.0
//
// That each is complete; that the shells understand them is tested with the shells, in tests/package.
#include "docs/completion.h"

#include <algorithm>
#include <regex>
#include <string>

#include "docs/describe.h"
#include "support/catch.h"

namespace cnpa {
namespace {

/// Returns what `text` has between `begin` and the next `end`.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return {};
  return text.substr(from, text.find(end, from) - from);
}

bool HasWord(const std::string& text, const std::string& word) {
  return std::regex_search(text, std::regex("(^|[ '|])" + word + "([ '=\\[]|$)"));
}

/// Two commands may have another flag of the same name.
bool TakesFlag(const CommandInfo& command, std::string_view name) {
  const std::vector<Flag> flags = FlagsOf(command);
  return std::any_of(flags.begin(), flags.end(), [name](const Flag& flag) { return flag.name == name; });
}

TEST_CASE("BashCompletion has each flag at the commands that take it, and at no other", "[docs][completion]") {
  const std::string all = BashCompletion();
  for (const CommandInfo& command : Commands()) {
    const std::string part = Between(all, std::string("\n    ") + command.name + ") words='", " ;;");
    REQUIRE_FALSE(part.empty());
    for (const Flag& flag : AllFlags()) {
      CAPTURE(command.name, flag.name);
      const bool takes = TakesFlag(command, flag.name);
      CHECK(HasWord(part, "--" + std::string(flag.name)) == takes);
    }
  }
}

TEST_CASE("ZshCompletion has each flag at the commands that take it, and at no other", "[docs][completion]") {
  const std::string all = ZshCompletion();
  for (const CommandInfo& command : Commands()) {
    const std::string part = Between(all, std::string("\n        ") + command.name + ")\n", ";;");
    REQUIRE_FALSE(part.empty());
    for (const Flag& flag : AllFlags()) {
      CAPTURE(command.name, flag.name);
      const bool takes = TakesFlag(command, flag.name);
      CHECK(std::regex_search(part, std::regex("'\\*?--" + std::string(flag.name) + "[=\\[]")) == takes);
    }
  }
}

TEST_CASE("FishCompletion has each flag at the commands that take it, and at no other", "[docs][completion]") {
  const std::string all = FishCompletion();
  for (const CommandInfo& command : Commands()) {
    for (const Flag& flag : AllFlags()) {
      if (flag.name == "help" || flag.name == "version") continue;
      CAPTURE(command.name, flag.name);
      const bool takes = TakesFlag(command, flag.name);
      const std::regex line(std::string("_from ") + command.name + "'( -s .)? -l " + std::string(flag.name) + " ");
      CHECK(std::regex_search(all, line) == takes);
    }
  }
  CHECK(all.find(" -s h -l help ") != std::string::npos);
  CHECK(all.find(" -s V -l version ") != std::string::npos);
}

}  // namespace
}  // namespace cnpa
