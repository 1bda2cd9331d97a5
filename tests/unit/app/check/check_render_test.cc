// SPDX-License-Identifier: Apache-2.0
#include "app/check/check_render.h"

#include <string>
#include <vector>

#include "kube/json/json.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using Lines = std::vector<std::string>;

const Check kGood{.kind = CheckKind::kServer, .status = CheckStatus::kOk, .detail = "it answers"};
const Check kWarned{
    .kind = CheckKind::kCrd, .status = CheckStatus::kWarn, .detail = "is \"old\"", .remedy = "cnpa-op crd"};
const Check kFailed{.kind = CheckKind::kRights,
                    .status = CheckStatus::kFail,
                    .subject = "namespaces",
                    .detail = "missing create",
                    .remedy = "cnpa-op rbac"};
const Check kLeft{.kind = CheckKind::kClock, .status = CheckStatus::kNotChecked, .detail = "not checked"};

std::string CheckLine(const Check& check, bool color) {
  const Lines lines = CheckLines(check, {.color = color, .columns = std::nullopt});
  return lines.size() == 1 ? lines.front() : "not one line";
}

TEST_CASE("CheckLines aligns mark, kind and words, and ends with the remedy", "[app][check_render]") {
  CHECK(CheckLine(kGood, false) == "ok    server       it answers");
  CHECK(CheckLine(kWarned, false) == "warn  crd          is \"old\": cnpa-op crd");
  CHECK(CheckLine(kFailed, false) == "FAIL  rights       namespaces: missing create: cnpa-op rbac");
  CHECK(CheckLine(kLeft, false) == "-     clock        not checked");
}

TEST_CASE("CheckLines colours the mark only", "[app][check_render]") {
  CHECK(CheckLine(kGood, true) == "\033[32mok   \033[0m server       it answers");
  CHECK(CheckLine(kFailed, true) == "\033[1;31mFAIL \033[0m rights       namespaces: missing create: cnpa-op rbac");
}

TEST_CASE("CheckLines lets nothing through that a terminal would obey", "[app][check_render]") {
  Check check = kGood;
  check.detail = "a\033[2J\nb";
  CHECK(CheckLine(check, false) == "ok    server       a [2J b");
}

TEST_CASE("CheckLines fit a terminal, and give a remedy that does not fit a line of its own", "[app][check_render]") {
  struct Case {
    std::string name;
    Check check;
    std::size_t columns;
    Lines want;
  };
  const std::vector<Case> cases{
      {"fits", kFailed, 60, {"FAIL  rights       namespaces: missing create: cnpa-op rbac"}},
      {"a column less",
       kFailed,
       57,
       {"FAIL  rights       namespaces: missing create:", "                   cnpa-op rbac"}},
      {"words that fit neither",
       kFailed,
       40,
       {"FAIL  rights       namespaces: missing", "                   create:", "                   cnpa-op rbac"}},
      {"no remedy", kLeft, 24, {"-     clock        not", "                   checked"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(CheckLines(c.check, {.color = false, .columns = c.columns}) == c.want);
    }
  }
}

TEST_CASE("CheckSummary says whether it can work here", "[app][check_render]") {
  CHECK(CheckSummary({kGood}) == "Ready.");
  CHECK(CheckSummary({kGood, kWarned}) == "Ready, with 1 warning.");
  CHECK(CheckSummary({kFailed, kLeft}) == "Not ready: 1 check failed.");
  CHECK(CheckSummary({kFailed, kFailed, kWarned}) == "Not ready: 2 checks failed, 1 warning.");
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
  CHECK(rows ==
        std::vector<std::vector<std::string>>{{"server", "", "ok", "it answers", ""},
                                              {"crd", "", "warn", "is \"old\"", "cnpa-op crd"},
                                              {"rights", "namespaces", "fail", "missing create", "cnpa-op rbac"},
                                              {"clock", "", "not checked", "not checked", ""}});
}

}  // namespace
}  // namespace cnpa
