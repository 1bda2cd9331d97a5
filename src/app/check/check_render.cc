// SPDX-License-Identifier: Apache-2.0
#include "app/check/check_render.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "app/output/log.h"
#include "app/output/table.h"
#include "app/output/width.h"
#include "app/render/render.h"
#include "base/text.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

constexpr std::size_t kMarkColumn = 5;
constexpr std::size_t kKindColumn = 12;
constexpr std::int64_t kDocumentVersion = 1;

struct StatusWords {
  std::string_view mark;
  Tone tone = Tone::kPlain;
  std::string_view name;  ///< In JSON.
};

StatusWords WordsOf(CheckStatus status) {
  switch (status) {
    case CheckStatus::kOk: return {"ok", Tone::kGreen, "ok"};
    case CheckStatus::kWarn: return {"warn", Tone::kYellow, "warn"};
    case CheckStatus::kFail: return {"FAIL", Tone::kBoldRed, "fail"};
    case CheckStatus::kNotChecked: return {"-", Tone::kDim, "not checked"};
  }
  return {};
}

std::size_t CountOf(const std::vector<Check>& checks, CheckStatus status) {
  return static_cast<std::size_t>(
      std::count_if(checks.begin(), checks.end(), [status](const Check& check) { return check.status == status; }));
}

}  // namespace

std::vector<std::string> CheckLines(const Check& check, const ViewForm& form) {
  const StatusWords words = WordsOf(check.status);
  const Pieces head{{fmt::format("{:<{}}", words.mark, kMarkColumn), words.tone},
                    {fmt::format(" {:<{}} ", CheckKindName(check.kind), kKindColumn), Tone::kPlain}};
  constexpr std::size_t kHang = kMarkColumn + 1 + kKindColumn + 1;
  const std::string text = Printable(check.subject.empty() ? check.detail : check.subject + ": " + check.detail);
  const std::string remedy = Printable(check.remedy);
  const std::string whole = remedy.empty() ? text : text + ": " + remedy;
  if (remedy.empty() || !form.columns || kHang + DisplayWidth(whole) <= *form.columns) {
    return Hang(head, {{whole, Tone::kPlain}}, kHang, form);
  }
  std::vector<std::string> lines = Hang(head, {{text + ":", Tone::kPlain}}, kHang, form);
  for (std::string& line : Hang({Blanks(kHang)}, {{remedy, Tone::kPlain}}, kHang, form)) {
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string CheckSummary(const std::vector<Check>& checks) {
  const std::size_t failed = CountOf(checks, CheckStatus::kFail);
  const std::size_t warned = CountOf(checks, CheckStatus::kWarn);
  const std::string warnings = warned == 0 ? "" : Count(warned, "warning");
  if (failed > 0) {
    return fmt::format("Not ready: {} failed{}.", Count(failed, "check"), warned == 0 ? "" : ", " + warnings);
  }
  if (warned > 0) return fmt::format("Ready, with {}.", warnings);
  return "Ready.";
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
