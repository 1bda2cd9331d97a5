// SPDX-License-Identifier: Apache-2.0
//
// The numbers of all passes, as Prometheus reads them. A value: who keeps it, and where it is written, is
// metrics_file.h's business. docs/metrics.md tells people what each one means.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/cli/exit_code.h"
#include "app/metrics/pass_numbers.h"
#include "base/time.h"

namespace cnpa {

enum class PassEnd { kConverged, kUnconverged, kUsage, kUnreadable, kStopped, kCrashed, kOverdue };
inline constexpr std::array<std::string_view, 7> kPassEnds{"converged", "unconverged", "usage",  "unreadable",
                                                           "stopped",   "crashed",     "overdue"};
static_assert(kPassEnds.size() == static_cast<std::size_t>(PassEnd::kOverdue) + 1);

/// Returns how a pass ended that came to its end by itself, with `code`.
PassEnd PassEndOf(ExitCode code);

struct FinishedPass {
  PassEnd end = PassEnd::kCrashed;
  std::chrono::microseconds took{0};
  Time ended_at{};
  PassNumbers numbers;
};

struct Bucket {
  std::chrono::microseconds most;  ///< Itself included.
  std::string_view seconds;        ///< The same, as its label says it.
};

/// A pass over a converged cluster takes some 10 ms; one that waits for a server takes --timeout.
inline constexpr std::array<Bucket, 14> kBuckets{{{std::chrono::milliseconds(5), "0.005"},
                                                  {std::chrono::milliseconds(10), "0.01"},
                                                  {std::chrono::milliseconds(25), "0.025"},
                                                  {std::chrono::milliseconds(50), "0.05"},
                                                  {std::chrono::milliseconds(100), "0.1"},
                                                  {std::chrono::milliseconds(250), "0.25"},
                                                  {std::chrono::milliseconds(500), "0.5"},
                                                  {std::chrono::seconds(1), "1"},
                                                  {std::chrono::milliseconds(2500), "2.5"},
                                                  {std::chrono::seconds(5), "5"},
                                                  {std::chrono::seconds(10), "10"},
                                                  {std::chrono::seconds(30), "30"},
                                                  {std::chrono::seconds(60), "60"},
                                                  {std::chrono::seconds(120), "120"}}};

/// What the text begins with: by this a file is known to be ours.
inline constexpr std::string_view kMetricsMark = "# HELP cnpa_op_";

struct Metrics {
  std::array<std::uint64_t, kPassEnds.size()> passes{};
  std::array<std::uint64_t, kBuckets.size() + 1> durations{};  ///< In each bucket alone; the last one has no limit.
  std::chrono::microseconds duration_sum{0};
  decltype(PassNumbers::requests) requests{};
  decltype(PassNumbers::writes) writes{};
  decltype(PassNumbers::spaces) spaces{};  ///< Of the last pass that has read the cluster.
  decltype(PassNumbers::contested) contested{};
  Time last_pass{};     ///< When it ended; 1970 before the first one, as below.
  Time last_success{};  ///< The last one that has read the cluster and left nothing for the next one.

  void Add(const FinishedPass& pass);
  bool operator==(const Metrics&) const = default;
};

}  // namespace cnpa
