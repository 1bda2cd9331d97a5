// SPDX-License-Identifier: Apache-2.0
#include "docs/man.h"

#include <string>

#include "docs/describe.h"
#include "docs/roff.h"
#include "support/catch.h"

namespace cnpa {
namespace {

const Edition kEdition{.version = "1.2.3", .date = "2026-01-02"};

bool Has(const std::string& page, const std::string& part) {
  return page.find(part) != std::string::npos;
}

TEST_CASE("CommandPage has each command, flag, variable and exit code", "[docs][man]") {
  const std::string page = CommandPage(kEdition);
  for (const CommandInfo& command : Commands()) {
    CAPTURE(command.name);
    CHECK(Has(page, ".TP\n" + Bold(command.name) + "\n"));
    for (const auto& [code, meaning] : ReadFooter(command.footer).exit_codes) {
      CHECK(Has(page, ".TP\n" + Bold(code) + "\n" + Escape(meaning)));
    }
  }
  for (const Flag& flag : AllFlags()) {
    CAPTURE(flag.name);
    CHECK(Has(page, Bold("--" + std::string(flag.name))));
    if (!flag.command_line_only) CHECK(Has(page, ".TP\n" + Bold(EnvironmentName(flag)) + "\n"));
  }
}

TEST_CASE("CommandPage has its sections in man's order", "[docs][man]") {
  const std::string page = CommandPage(kEdition);
  CHECK(Has(page, ".TH CNPA\\-OP 1 2026-01-02 \"cnpa\\-op 1.2.3\" \"User Commands\"\n"));
  std::size_t last = 0;
  for (const char* title : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT",
                            "FILES", "EXAMPLES", "SEE ALSO"}) {
    CAPTURE(title);
    const std::size_t place = page.find(std::string(".SH ") + title + "\n");
    REQUIRE(place != std::string::npos);
    CHECK(place > last);
    last = place;
  }
}

TEST_CASE("CommandPage tells the default and the commands of a flag", "[docs][man]") {
  CHECK(
      Has(CommandPage(kEdition), Bold("--timeout") + " " + Italic("DUR") +
                                     "\nof a whole run; when it is over nothing new is begun.\n.IP\n"
                                     "Default: 60s. Variable: CNPA_OP_TIMEOUT. For reconcile, get, explain, check.\n"));
}

TEST_CASE("ConfigPage has each key with its type and its default, and nothing that is no key", "[docs][man]") {
  const std::string page = ConfigPage(kEdition);
  for (const Flag& flag : Flags()) {
    CAPTURE(flag.name);
    const std::string head = ".TP\n" + Bold(flag.name) + Escape(" (" + TypeOf(flag) + ")") + "\n";
    CHECK(Has(page, head) == !flag.command_line_only);
    if (flag.command_line_only || flag.fallback.empty()) continue;
    CHECK(Has(page.substr(page.find(head)), "Default: " + Escape(flag.fallback) + ".\n"));
  }
}

TEST_CASE("Escape leaves nothing that man would take for its own", "[docs][man]") {
  CHECK(Escape(R"(a-b 'c' "d" \n ~ ^ `)") == R"(a\-b \(aqc\(aq \(dqd\(dq \en \(ti \(ha \(ga)");
  CHECK(Escape(".SH") == "\\&.SH");
}

TEST_CASE("Roff begins no line of a wrapped text with a dot", "[docs][man]") {
  Roff page("a", 1, "2026-01-02", "a 1", "b");
  page.Section("C");
  page.Paragraph(std::string(79, 'x') + " .SH y");
  CHECK(Has(page.text(), "x .SH\ny\n"));
}

}  // namespace
}  // namespace cnpa
