// SPDX-License-Identifier: Apache-2.0
//
// Which metrics there are: their names, labels and help. docs/metrics.md has the same for people.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/metrics/metrics.h"
#include "base/time.h"

namespace cnpa {

inline constexpr std::string_view kDuration = "cnpa_op_pass_duration_seconds";
inline constexpr std::string_view kBuildInfo = "cnpa_op_build_info";

/// One of a row of numbers, with the whole name of its sample: `cnpa_op_passes_total{result="converged"}`.
struct Series {
  std::string sample;
  bool shown_at_zero = false;  ///< A rate needs a 0 to rise from; what is unlikely is shown once it is there.
};

/// A metric with labels, and the numbers of it.
struct Family {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  std::vector<Series> series;
  std::span<std::uint64_t> (*numbers)(Metrics& metrics);
};

/// Returns the metrics that are rows of whole numbers.
const std::vector<Family>& Families();

struct Timestamp {
  std::string_view name;
  std::string_view help;
  Time Metrics::*member;
};

inline constexpr std::array kTimestamps{
    Timestamp{"cnpa_op_last_pass_timestamp_seconds", "When the last pass ended.", &Metrics::last_pass},
    Timestamp{"cnpa_op_last_success_timestamp_seconds",
              "When the last pass ended that read the cluster and left nothing for the next one.",
              &Metrics::last_success}};

/// Returns the whole name of a sample with a label: `cnpa_op_passes_total{result="converged"}`.
std::string Sample(std::string_view name, std::string_view label, std::string_view value);

/// Returns that of a bucket of the histogram, the last one's too.
std::string BucketSample(std::size_t index);

/// Returns `value` as it stands between the quotes of a label.
std::string EscapeLabelValue(std::string_view value);

}  // namespace cnpa
