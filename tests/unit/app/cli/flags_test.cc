// SPDX-License-Identifier: Apache-2.0
#include "app/cli/flags.h"

#include <map>
#include <string>

#include "support/catch.h"

namespace cnpa {
namespace {

const Flag& FlagNamed(std::string_view name) {
  for (const Flag& flag : Flags()) {
    if (flag.name == name) return flag;
  }
  FAIL("no flag " << name);
  return Flags().front();
}

TEST_CASE("Flags have each name once for a command, a help, and a default that they take themselves", "[app][flags]") {
  std::map<std::string_view, unsigned> scopes;
  for (const Flag& flag : Flags()) {
    CAPTURE(flag.name);
    CHECK((scopes[flag.name] & flag.scope) == 0U);               // Two of a name are for other commands,
    CHECK((scopes[flag.name] == 0U || flag.command_line_only));  // and no variable means both.
    scopes[flag.name] |= flag.scope;
    CHECK_FALSE(flag.help.empty());
    CHECK((flag.kind == FlagKind::kSwitch) == flag.value.empty());
    if (flag.fallback.empty()) continue;
    Options options;
    CHECK(ErrorOf(flag.set(options, std::string(flag.fallback))) == std::nullopt);
  }
}

TEST_CASE("Flags: what one run asks for is command line only", "[app][flags]") {
  for (const std::string_view name : {"once", "diff", "output"}) CHECK(FlagNamed(name).command_line_only);
  for (const std::string_view name : {"kubeconfig", "timeout", "only", "log-level", "metrics-file"})
    CHECK_FALSE(FlagNamed(name).command_line_only);
}

TEST_CASE("EnvironmentName spells a flag as CNPA_OP_<FLAG>", "[app][flags]") {
  CHECK(EnvironmentName(FlagNamed("kubeconfig")) == "CNPA_OP_KUBECONFIG");
  CHECK(EnvironmentName(FlagNamed("request-timeout")) == "CNPA_OP_REQUEST_TIMEOUT");
  CHECK(EnvironmentName(FlagNamed("allow-crd-deletion")) == "CNPA_OP_ALLOW_CRD_DELETION");
}

}  // namespace
}  // namespace cnpa
