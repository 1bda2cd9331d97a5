// SPDX-License-Identifier: Apache-2.0
//
// Metrics as Prometheus reads them.
#pragma once

#include <string>
#include <string_view>

#include "app/metrics/metrics.h"
#include "base/result.h"

namespace cnpa {

/// Returns the metrics in the text format, always in the same order. `version` is ours.
///
/// Source:  Prometheus, Exposition formats, Text-based format.
std::string RenderMetrics(const Metrics& metrics, std::string_view version);

/// Reads what RenderMetrics() wrote, also that of another version.
///
/// Errors:  kMalformed: something else, or a part of it.
Result<Metrics> ParseMetrics(std::string_view text);

}  // namespace cnpa
