// SPDX-License-Identifier: Apache-2.0
#include "app/cli/help.h"

#include "support/catch.h"
#include "support/text.h"

namespace cnpa {
namespace {

/// Returns the part of a page before its examples, which are whole lines.
std::string BeforeExamples(const std::string& page) {
  return page.substr(0, page.find("\nExamples:\n"));
}

TEST_CASE("HelpText fits the columns that there are", "[app][help]") {
  for (const CommandInfo& command : Commands()) {
    CAPTURE(command.name);
    for (const std::size_t columns : {80U, 100U}) {
      for (const std::string& line : LinesOf(BeforeExamples(HelpText(command, columns)))) {
        CAPTURE(line);
        CHECK(line.size() <= columns);
        CHECK_FALSE(line.ends_with(' '));
      }
    }
  }
}

TEST_CASE("HelpText names each flag of a command with its default, and no other", "[app][help]") {
  for (const CommandInfo& command : Commands()) {
    CAPTURE(command.name);
    const std::string page = HelpText(command, 200);
    for (const Flag& flag : FlagsOf(command)) {
      CAPTURE(flag.name);
      const std::size_t at = page.find("--" + std::string(flag.name) +
                                       (flag.kind == FlagKind::kSwitch ? " " : " " + std::string(flag.value)));
      REQUIRE(at != std::string::npos);
      const std::string line = page.substr(at, page.find('\n', at) - at);
      CHECK((line.find("(default " + std::string(flag.fallback) + ")") != std::string::npos) ==
            (!flag.fallback.empty() && flag.kind != FlagKind::kSwitch));
    }
  }
}

TEST_CASE("HelpText keeps two blanks between a flag and what it says", "[app][help]") {
  for (const CommandInfo& command : Commands()) {
    const std::string text = HelpText(command, 200);
    const std::string page = text.substr(text.find("\nFlags:\n"));
    for (const Flag& flag : FlagsOf(command)) {
      CAPTURE(command.name, flag.name);
      const std::size_t at = page.find("--" + std::string(flag.name) + " ");
      REQUIRE(at != std::string::npos);
      const std::string line = page.substr(at, page.find('\n', at) - at);
      CHECK(Contains(line, "  " + std::string(flag.help).substr(0, 12)));
    }
  }
}

TEST_CASE("HelpText of every command has examples", "[app][help]") {
  for (const CommandInfo& command : Commands()) {
    CAPTURE(command.name);
    const std::string page = HelpText(command, 80);
    CHECK(page.starts_with("Usage: cnpa-op " + std::string(command.name)));
    CHECK(page.find("\nExamples:\n  cnpa-op " + std::string(command.name)) != std::string::npos);
    CHECK(page.find("\n\n\n") == std::string::npos);
  }
}

}  // namespace
}  // namespace cnpa
