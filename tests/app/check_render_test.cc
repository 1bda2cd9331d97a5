// SPDX-License-Identifier: Apache-2.0
#include "app/check_render.h"

#include <string>
#include <vector>

#include "kube/json.h"
#include "support/catch.h"

namespace cnpa {
namespace {

const Check kGood{.kind = CheckKind::kServer, .status = CheckStatus::kOk, .detail = "it answers"};
const Check kWarned{
    .kind = CheckKind::kCrd, .status = CheckStatus::kWarn, .detail = "is \"old\"", .remedy = "cnpa-op crd"};
const Check kFailed{.kind = CheckKind::kRights,
                    .status = CheckStatus::kFail,
                    .subject = "namespaces",
                    .detail = "lacks create",
                    .remedy = "cnpa-op rbac"};
const Check kLeft{.kind = CheckKind::kClock, .status = CheckStatus::kNotChecked, .detail = "not checked"};

TEST_CASE("CheckLine aligns mark, kind and words, and ends with the remedy", "[app][check_render]") {
  CHECK(CheckLine(kGood, false) == "ok    server       it answers");
  CHECK(CheckLine(kWarned, false) == "warn  crd          is \"old\": cnpa-op crd");
  CHECK(CheckLine(kFailed, false) == "FAIL  rights       namespaces: lacks create: cnpa-op rbac");
  CHECK(CheckLine(kLeft, false) == "-     clock        not checked");
}

TEST_CASE("CheckLine colours the mark only", "[app][check_render]") {
  CHECK(CheckLine(kGood, true) == "\033[32mok   \033[0m server       it answers");
  CHECK(CheckLine(kFailed, true) == "\033[1;31mFAIL \033[0m rights       namespaces: lacks create: cnpa-op rbac");
}

TEST_CASE("CheckLine lets nothing through that a terminal would obey", "[app][check_render]") {
  Check check = kGood;
  check.detail = "a\033[2J\nb";
  CHECK(CheckLine(check, false) == "ok    server       a [2J b");
}

TEST_CASE("CheckSummary says whether it can work here", "[app][check_render]") {
  CHECK(CheckSummary({kGood}) == "It can work here.");
  CHECK(CheckSummary({kGood, kWarned}) == "It can work here, as far as can be told: 1 warning.");
  CHECK(CheckSummary({kFailed, kLeft}) == "It can't work here: 1 check failed.");
  CHECK(CheckSummary({kFailed, kFailed, kWarned}) == "It can't work here: 2 checks failed, 1 warning.");
}

TEST_CASE("CheckDocument is one document with the same facts", "[app][check_render]") {
  std::string text = CheckDocument({kGood, kWarned, kFailed, kLeft});
  JsonDocument document;
  REQUIRE(document.Parse(text));
  const JsonReader root = document.root();
  CHECK(root.IntIfPresent("version") == 1);
  CHECK(root.IntIfPresent("failed") == 1);
  CHECK(root.IntIfPresent("warnings") == 1);
  std::vector<std::vector<std::string>> rows;
  for (const JsonReader& check : root.Objects("checks")) {
    rows.push_back({check.String("kind"), check.OptionalString("subject"), check.String("status"),
                    check.String("detail"), check.OptionalString("remedy")});
  }
  CHECK(ErrorOf(document.status()) == std::nullopt);
  CHECK(rows == std::vector<std::vector<std::string>>{{"server", "", "ok", "it answers", ""},
                                                      {"crd", "", "warn", "is \"old\"", "cnpa-op crd"},
                                                      {"rights", "namespaces", "fail", "lacks create", "cnpa-op rbac"},
                                                      {"clock", "", "not checked", "not checked", ""}});
}

}  // namespace
}  // namespace cnpa
