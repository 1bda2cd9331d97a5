// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"
#include "fuzz.h"

namespace cnpa {
namespace {

void FuzzTime(std::string_view text) {
  const Result<Time> time = ParseTime(text);
  RequireValueOr(ErrorCode::kInvalid, time);
  if (!time) return;
  const std::string written = FormatTime(*time);
  Require(ParseTime(written) == *time, "a time that was written is read as the same");
  const bool plain = text.size() == written.size() && !text.ends_with(":60Z");
  if (plain) Require(written == text, "a time without fraction is written as it was read");
}

void FuzzDuration(std::string_view text) {
  using std::chrono::milliseconds;
  const Result<milliseconds> span = ParseDuration(text);
  RequireValueOr(ErrorCode::kInvalid, span);
  if (!span) return;
  Require(*span >= milliseconds(0) && *span <= std::chrono::hours(1000), "a span is within its bounds");
  Require(ParseDuration(std::to_string(span->count()) + "ms") == *span, "a span in milliseconds is the same");
  RequireOneLine(FormatDuration(*span));
  RequireOneLine(FormatAge(std::chrono::floor<std::chrono::seconds>(*span)));
}

}  // namespace

void Fuzz(std::string_view text) {
  FuzzTime(text);
  FuzzDuration(text);
}

}  // namespace cnpa
