// SPDX-License-Identifier: Apache-2.0
#include "app/metrics/metrics.h"
#include "app/metrics/metrics_text.h"
#include "app/metrics/pass_numbers.h"
#include "fuzz.h"

namespace cnpa {

void Fuzz(std::string_view text) {
  const Result<Metrics> metrics = ParseMetrics(text);
  RequireValueOr(ErrorCode::kMalformed, metrics);
  if (metrics) Require(ParseMetrics(RenderMetrics(*metrics, "1")) == *metrics, "metrics are read as they were written");

  const Result<PassNumbers> numbers = DecodePassNumbers(text);
  RequireValueOr(ErrorCode::kMalformed, numbers);
  if (numbers) Require(DecodePassNumbers(EncodePassNumbers(*numbers)) == *numbers, "so are the numbers of a pass");
}

}  // namespace cnpa
