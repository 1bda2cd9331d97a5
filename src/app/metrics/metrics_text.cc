// SPDX-License-Identifier: Apache-2.0
#include "app/metrics/metrics_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "app/metrics/metrics_catalog.h"

namespace cnpa {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t kMicrosecondsInSecond = 1'000'000;

void AppendHead(std::string_view name, std::string_view type, std::string_view help, std::string& text) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void AppendFamily(const Family& family, std::span<const std::uint64_t> numbers, std::string& text) {
  AppendHead(family.name, family.type, family.help, text);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != 0 || family.series[i].shown_at_zero) {
      text += fmt::format("{} {}\n", family.series[i].sample, numbers[i]);
    }
  }
}

void AppendDurations(const Metrics& metrics, std::string& text) {
  AppendHead(kDuration, "histogram", "How long passes took, from their start to their end.", text);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < metrics.durations.size(); ++i) {
    count += metrics.durations[i];
    text += fmt::format("{} {}\n", BucketSample(i), count);
  }
  const std::int64_t sum = metrics.duration_sum.count();
  text += fmt::format("{}_sum {}.{:06}\n", kDuration, sum / kMicrosecondsInSecond, sum % kMicrosecondsInSecond);
  text += fmt::format("{}_count {}\n", kDuration, count);
}

template <typename T>
std::optional<T> ToNumber(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.starts_with('-')) return std::nullopt;
  return number;
}

/// Returns the microseconds of "12.345678".
std::optional<microseconds> ToSpan(std::string_view text) {
  if (text.size() < 8 || text[text.size() - 7] != '.') return std::nullopt;
  const auto seconds = ToNumber<std::uint32_t>(text.substr(0, text.size() - 7));
  const auto rest = ToNumber<std::uint32_t>(text.substr(text.size() - 6));
  if (!seconds || !rest) return std::nullopt;
  return microseconds(std::int64_t{*seconds} * kMicrosecondsInSecond + *rest);
}

/// The samples of a text by their whole names, taken out as they are understood.
class Samples {
 public:
  /// Returns whether `line` is a sample, and the first one of its name.
  bool Add(std::string_view line) {
    const std::size_t space = line.rfind(' ');
    return space != std::string_view::npos && values_.emplace(line.substr(0, space), line.substr(space + 1)).second;
  }

  std::string_view Take(std::string_view sample) {
    const auto found = values_.find(sample);
    return found == values_.end() ? std::string_view() : values_.extract(found).mapped();
  }

  /// Takes a number that may not be there: it is 0 then. Returns whether what is there is one.
  bool TakeNumber(std::string_view sample, std::uint64_t& number) {
    const std::string_view text = Take(sample);
    const auto value = text.empty() ? 0 : ToNumber<std::uint64_t>(text);
    number = value.value_or(0);
    return value.has_value();
  }

  bool empty() const { return values_.empty(); }

 private:
  std::map<std::string_view, std::string_view, std::less<>> values_;
};

bool TakeDurations(Samples& samples, Metrics& metrics) {
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < metrics.durations.size(); ++i) {
    std::uint64_t until = 0;
    if (!samples.TakeNumber(BucketSample(i), until) || until < before) return false;
    metrics.durations[i] = until - before;
    before = until;
  }
  const std::optional<microseconds> sum = ToSpan(samples.Take(std::string(kDuration) + "_sum"));
  metrics.duration_sum = sum.value_or(microseconds(0));
  return sum && ToNumber<std::uint64_t>(samples.Take(std::string(kDuration) + "_count")) == before;
}

bool TakeTimestamps(Samples& samples, Metrics& metrics) {
  return std::all_of(kTimestamps.begin(), kTimestamps.end(), [&](const Timestamp& timestamp) {
    const auto seconds = ToNumber<std::uint32_t>(samples.Take(timestamp.name));
    metrics.*timestamp.member = Time(std::chrono::seconds(seconds.value_or(0)));
    return seconds.has_value();
  });
}

/// Takes all that we write; returns whether it was that and nothing else.
bool TakeAll(Samples& samples, Metrics& metrics) {
  for (const Family& family : Families()) {
    const std::span<std::uint64_t> numbers = family.numbers(metrics);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!samples.TakeNumber(family.series[i].sample, numbers[i])) return false;
    }
  }
  return TakeDurations(samples, metrics) && TakeTimestamps(samples, metrics) && samples.empty();
}

/// Cuts the line on our version off the end, by which a text is known to be whole; returns whether it was there.
bool CutLastLine(std::string_view& text) {
  if (!text.ends_with("\"} 1\n")) return false;
  const std::size_t start = text.rfind('\n', text.size() - 2) + 1;
  if (!text.substr(start).starts_with(std::string(kBuildInfo) + "{version=\"")) return false;
  text = text.substr(0, start);
  return true;
}

}  // namespace

std::string RenderMetrics(const Metrics& metrics, std::string_view version) {
  std::string text;
  Metrics numbers = metrics;
  for (const Family& family : Families()) AppendFamily(family, family.numbers(numbers), text);
  AppendDurations(metrics, text);
  for (const Timestamp& timestamp : kTimestamps) {
    AppendHead(timestamp.name, "gauge", timestamp.help, text);
    text += fmt::format("{} {}\n", timestamp.name, (metrics.*timestamp.member).time_since_epoch().count());
  }
  AppendHead(kBuildInfo, "gauge", "1, with the version that wrote this as a label.", text);
  text += Sample(kBuildInfo, "version", version) + " 1\n";
  return text;
}

Result<Metrics> ParseMetrics(std::string_view text) {
  const auto malformed = [] { return Fail(ErrorCode::kMalformed, "not what cnpa-op writes"); };
  if (!text.starts_with(kMetricsMark) || !CutLastLine(text)) return malformed();
  Samples samples;
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(end + 1)) {
    end = text.find('\n');  // There is one: the text that was cut off began behind it.
    if (!text.starts_with('#') && !samples.Add(text.substr(0, end))) return malformed();
  }
  Metrics metrics;
  if (!TakeAll(samples, metrics)) return malformed();
  return metrics;
}

}  // namespace cnpa
