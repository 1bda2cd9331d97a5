// SPDX-License-Identifier: Apache-2.0
#include "kube/api/retry.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/clock.h"
#include "base/time.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstDelay{250};
constexpr milliseconds kTimeForAnAnswer{500};  // A try that can't have an answer is none.
constexpr int kMostDoublings = 16;

}  // namespace

std::optional<milliseconds> ParseRetryAfter(const Response& answer) {
  const std::string& text = answer.retry_after;
  const char* const end = text.data() + text.size();
  std::int64_t seconds = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (!text.empty() && stop == end && (error == std::errc() || error == std::errc::result_out_of_range)) {
    constexpr std::int64_t kLongest = 1000L * 3600;
    const bool too_long = error != std::errc() || seconds > kLongest;
    return milliseconds(std::max<std::int64_t>(0, too_long ? kLongest : seconds) * 1000);
  }
  const Result<Time> when = ParseHttpDate(text);
  if (!when) return std::nullopt;
  const std::chrono::seconds span = *when - ParseHttpDate(answer.date).value_or(Now());
  return std::max(milliseconds(0), milliseconds(span));
}

Retries::Retries(std::function<double()> random) : engine_(std::random_device()()), random_(std::move(random)) {
  if (!random_) random_ = [this] { return std::uniform_real_distribution<double>(0, 1)(engine_); };
}

void Retries::NoteSuccess() {
  budget_ = std::min(kFullBudget, budget_ + 1);
}

void Retries::NoteFailure() {
  budget_ -= kCostOfFailure;
}

std::optional<milliseconds> Retries::NoteFailureAndDelay(int attempt, const Response& answer, milliseconds time_left) {
  NoteFailure();
  if (exhausted()) return std::nullopt;
  const milliseconds step = kFirstDelay * (1 << std::min(attempt, kMostDoublings));
  const auto jitter = std::chrono::duration_cast<milliseconds>(step * random_());
  const milliseconds delay = ParseRetryAfter(answer).value_or(milliseconds(0)) + jitter;
  if (delay + kTimeForAnAnswer > time_left) return std::nullopt;
  return delay;
}

}  // namespace cnpa
