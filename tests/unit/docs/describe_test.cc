// SPDX-License-Identifier: Apache-2.0
#include "docs/describe.h"

#include "support/catch.h"

namespace cnpa {
namespace {

Flag FlagNamed(std::string_view name) {
  for (const Flag& flag : AllFlags()) {
    if (flag.name == name) return flag;
  }
  FAIL("no flag " << name);
  return AllFlags().front();
}

TEST_CASE("WordsOf asks the flag itself", "[docs][describe]") {
  CHECK(WordsOf(FlagNamed("color")) == std::vector<std::string>{"auto", "always", "never"});
  CHECK(WordsOf(FlagNamed("output")) == std::vector<std::string>{"text", "json"});
  for (const std::string_view name : {"once", "timeout", "only", "concurrency", "kubeconfig", "config", "help"}) {
    CAPTURE(name);
    CHECK(WordsOf(FlagNamed(name)).empty());
  }
}

TEST_CASE("WordsOf returns what the help of the flag names, and what the flag takes", "[docs][describe]") {
  for (const Flag& flag : Flags()) {
    for (const std::string& word : WordsOf(flag)) {
      CAPTURE(flag.name, word);
      CHECK((flag.help.find(word) != std::string_view::npos || flag.value.find(word) != std::string_view::npos));
      Options options;
      CHECK(ErrorOf(flag.set(options, word)) == std::nullopt);
    }
  }
}

TEST_CASE("CommandsWith names the commands in the order of help", "[docs][describe]") {
  CHECK(CommandsWith(FlagNamed("timeout")) == std::vector<std::string>{"reconcile", "get", "explain", "check"});
  CHECK(CommandsWith(FlagNamed("config")) == CommandsWith(FlagNamed("timeout")));
  CHECK(CommandsWith(FlagNamed("help")).size() == Commands().size());
}

TEST_CASE("TypeOf says what a value in the configuration file is", "[docs][describe]") {
  struct Case {
    std::string_view name;
    std::string_view want;
  };
  for (const Case& c :
       {Case{"timeout", "duration"}, Case{"concurrency", "whole number"}, Case{"color", "word"},
        Case{"only", "list of texts"}, Case{"allow-crd-deletion", "true or false"},
        Case{"kubeconfig", "path of a file"}, Case{"archive", "path of a folder"}, Case{"context", "text"}}) {
    CAPTURE(c.name);
    CHECK(TypeOf(FlagNamed(c.name)) == c.want);
  }
}

TEST_CASE("ReadFooter takes apart what follows the flags in --help", "[docs][describe]") {
  const Footer footer = ReadFooter(
      "\nOne line\nand another.\n\nExit codes:\n  0         all is well\n  130, 143  ended\nA note.\n\n"
      "Examples:\n  cnpa-op a\n  cnpa-op b  c");
  CHECK(footer.paragraphs == std::vector<std::string>{"One line and another."});
  CHECK(footer.exit_codes ==
        std::vector<std::pair<std::string, std::string>>{{"0", "all is well"}, {"130, 143", "ended"}});
  CHECK(footer.exit_notes == std::vector<std::string>{"A note."});
  CHECK(footer.examples == std::vector<std::string>{"cnpa-op a", "cnpa-op b  c"});
}

TEST_CASE("ReadFooter finds codes and examples of the commands that ask a cluster", "[docs][describe]") {
  for (const CommandInfo& command : Commands()) {
    if (!command.configured) continue;
    CAPTURE(command.name);
    const Footer footer = ReadFooter(command.footer);
    CHECK(footer.exit_codes.size() >= 4);
    CHECK_FALSE(footer.examples.empty());
    for (const std::string& paragraph : footer.paragraphs) CHECK(paragraph.find("  ") == std::string::npos);
  }
}

}  // namespace
}  // namespace cnpa
