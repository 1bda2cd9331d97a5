// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <random>

#include "kube/http/transport.h"

namespace cnpa {

/// Decides whether a request that failed for a passing reason is made again, and when. One for a whole pass: a server
/// that fails gets fewer requests, not more.
///
/// Source:  client-go rest/with_retry.go for Retry-After; gRPC retry throttling for the budget; full jitter as in
///          "Exponential Backoff And Jitter", AWS Architecture Blog.
class Retries {
 public:
  /// Takes a source of numbers from [0, 1); by default a real one.
  explicit Retries(std::function<double()> random = {});
  ~Retries() = default;
  Retries(const Retries&) = delete;
  Retries& operator=(const Retries&) = delete;
  Retries(Retries&&) = delete;
  Retries& operator=(Retries&&) = delete;

  /// A request was answered as it was meant.
  void NoteSuccess();

  /// A request failed for a passing reason and is not made again.
  void NoteFailure();

  /// Returns how long to wait before a request that failed the `attempt`-th time (from 0) is made again: what the
  /// answer's Retry-After says, in seconds or as a date, and a little more, so that not all come back at once; else a
  /// random part of a quarter of a second, doubled with each attempt. Nothing when that does not fit `time_left`, or
  /// the budget is spent.
  std::optional<std::chrono::milliseconds> NoteFailureAndDelay(int attempt, const Response& answer,
                                                               std::chrono::milliseconds time_left);

  /// Returns whether so much has failed that nothing new should be begun.
  bool exhausted() const { return budget_ <= 0; }

 private:
  static constexpr int kFullBudget = 100;
  static constexpr int kCostOfFailure = 10;

  std::mt19937 engine_;
  std::function<double()> random_;
  int budget_ = kFullBudget;
};

/// Returns what a Retry-After asks for, counted from the answer's own date.
///
/// Source:  RFC 9110, section 10.2.3.
std::optional<std::chrono::milliseconds> ParseRetryAfter(const Response& answer);

}  // namespace cnpa
