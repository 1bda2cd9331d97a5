// SPDX-License-Identifier: Apache-2.0
#include "app/check_render.h"

#include <algorithm>

#include <fmt/core.h>

#include "app/log.h"
#include "app/render.h"
#include "kube/json_writer.h"

namespace cnpa {
namespace {

constexpr std::size_t kMarkColumn = 5;
constexpr std::size_t kKindColumn = 12;
constexpr std::int64_t kDocumentVersion = 1;

struct StatusWords {
  std::string_view mark;
  std::string_view color;
  std::string_view name;  ///< In JSON.
};

StatusWords WordsOf(CheckStatus status) {
  switch (status) {
    case CheckStatus::kOk: return {"ok", "32", "ok"};
    case CheckStatus::kWarn: return {"warn", "33", "warn"};
    case CheckStatus::kFail: return {"FAIL", "1;31", "fail"};
    case CheckStatus::kNotChecked: return {"-", "2", "not checked"};
  }
  return {};
}

std::size_t CountOf(const std::vector<Check>& checks, CheckStatus status) {
  return static_cast<std::size_t>(
      std::count_if(checks.begin(), checks.end(), [status](const Check& check) { return check.status == status; }));
}

}  // namespace

std::string CheckLine(const Check& check, bool color) {
  const StatusWords words = WordsOf(check.status);
  std::string mark = fmt::format("{:<{}}", words.mark, kMarkColumn);
  if (color) mark = fmt::format("\033[{}m{}\033[0m", words.color, mark);
  std::string text = check.subject.empty() ? "" : check.subject + ": ";
  text += check.detail;
  if (!check.remedy.empty()) text += ": " + check.remedy;
  return fmt::format("{} {:<{}} {}", mark, CheckKindName(check.kind), kKindColumn, Printable(text));
}

std::string CheckSummary(const std::vector<Check>& checks) {
  const std::size_t failed = CountOf(checks, CheckStatus::kFail);
  const std::size_t warned = CountOf(checks, CheckStatus::kWarn);
  const std::string warnings = warned == 0 ? "" : Count(warned, "warning");
  if (failed > 0) {
    return fmt::format("It can't work here: {} failed{}.", Count(failed, "check"), warned == 0 ? "" : ", " + warnings);
  }
  if (warned > 0) return fmt::format("It can work here, as far as can be told: {}.", warnings);
  return "It can work here.";
}

std::string CheckDocument(const std::vector<Check>& checks) {
  JsonWriter document(JsonWriter::Layout::kIndented);
  document.Object([&] {
    document.Int("version", kDocumentVersion);
    document.Int("failed", static_cast<std::int64_t>(CountOf(checks, CheckStatus::kFail)));
    document.Int("warnings", static_cast<std::int64_t>(CountOf(checks, CheckStatus::kWarn)));
    document.Array("checks", [&] {
      for (const Check& check : checks) {
        document.Object([&] {
          document.String("kind", CheckKindName(check.kind));
          document.StringOrNull("subject", check.subject);
          document.String("status", WordsOf(check.status).name);
          document.String("detail", check.detail);
          document.StringOrNull("remedy", check.remedy);
        });
      }
    });
  });
  return document.text();
}

}  // namespace cnpa
