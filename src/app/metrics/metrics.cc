// SPDX-License-Identifier: Apache-2.0
#include "app/metrics/metrics.h"

namespace cnpa {

PassEnd PassEndOf(ExitCode code) {
  switch (code) {
    case ExitCode::kConverged: return PassEnd::kConverged;
    case ExitCode::kUnconverged: return PassEnd::kUnconverged;
    case ExitCode::kUsage: return PassEnd::kUsage;
    case ExitCode::kUnreadable: return PassEnd::kUnreadable;
    case ExitCode::kInterrupted:
    case ExitCode::kTerminated: return PassEnd::kStopped;
  }
  return PassEnd::kCrashed;
}

void Metrics::Add(const FinishedPass& pass) {
  ++passes[static_cast<std::size_t>(pass.end)];
  std::size_t bucket = 0;
  while (bucket < kBuckets.size() && pass.took > kBuckets[bucket].most) ++bucket;
  ++durations[bucket];
  duration_sum += pass.took;
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i] += pass.numbers.requests[i];
  for (std::size_t i = 0; i < writes.size(); ++i) writes[i] += pass.numbers.writes[i];
  contested[0] += pass.numbers.contested[0];
  if (pass.numbers.read) spaces = pass.numbers.spaces;
  last_pass = pass.ended_at;
  const bool to_its_end = pass.end == PassEnd::kConverged || pass.end == PassEnd::kUnconverged;
  if (to_its_end && pass.numbers.looked_at_all()) last_success = pass.ended_at;
}

}  // namespace cnpa
