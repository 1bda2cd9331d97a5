// SPDX-License-Identifier: Apache-2.0
#include "app/loop/pass_report.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <vector>

#include "base/text.h"

namespace cnpa {
namespace {

constexpr char kSeparator = '\x1f';
constexpr int kLongestLast = 3600;  // Seconds.
constexpr std::string_view kEntry = "entry";
constexpr std::string_view kObserved = "observed";
constexpr std::string_view kEnded = "ended";
constexpr std::string_view kLingers = "lingers";
constexpr std::string_view kWake = "wake";

std::string Join(std::initializer_list<std::string> fields) {
  std::string line;
  for (std::string field : fields) {
    std::replace_if(
        field.begin(), field.end(), [](char c) { return c == kSeparator || c == '\n'; }, ' ');
    if (!line.empty()) line += kSeparator;
    line += field;
  }
  return line + '\n';
}

std::vector<std::string> Split(std::string_view line) {
  std::vector<std::string> fields;
  std::size_t start = 0;
  while (start <= line.size()) {
    const std::size_t end = std::min(line.find(kSeparator, start), line.size());
    fields.emplace_back(line.substr(start, end - start));
    start = end + 1;
  }
  return fields;
}

template <typename T>
std::string Digits(T value) {
  return std::to_string(static_cast<int>(value));
}

/// Returns the value that Digits() wrote; nothing when it is beyond `last`.
template <typename T>
std::optional<T> FromDigits(const std::string& text, T last) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  if (number > static_cast<int>(last)) return std::nullopt;
  return static_cast<T>(number);
}

/// Returns a text that what the cluster has may have made long, so that its line is none that the supervisor drops.
std::string Bounded(const std::string& text) {
  return Shortened(text, kLongestPassLineBytes / 16);
}

std::string Encode(const LogEntry& entry) {
  const LogFields& fields = entry.fields;
  return Join({std::string(kEntry), Digits(entry.level), Digits(entry.is_message),
               Shortened(entry.text, kLongestPassLineBytes / 4), Bounded(entry.trouble), Bounded(fields.team_space),
               Bounded(fields.object), Bounded(fields.reason), Bounded(fields.verb), Bounded(fields.field),
               Bounded(fields.from), Bounded(fields.to), std::to_string(entry.lasts.count())});
}

std::string Encode(const PassObserved& /*observed*/) {
  return Join({std::string(kObserved)});
}

std::string Encode(const PassEnded& ended) {
  return Join({std::string(kEnded), Digits(ended.code), Digits(ended.looked), Digits(ended.unauthorized),
               Digits(ended.loaded_by_systemd), EncodePassNumbers(ended.numbers), ended.summary});
}

std::string Encode(const PassLingers& /*lingers*/) {
  return Join({std::string(kLingers)});
}

std::string Encode(const Wake& wake) {
  return Join({std::string(kWake), Digits(wake.cause), wake.team_space, Bounded(wake.words)});
}

}  // namespace

std::string EncodePassMessage(const PassMessage& message) {
  return std::visit([](const auto& value) { return Encode(value); }, message);
}

Result<PassMessage> DecodePassMessage(std::string_view line) {
  const std::vector<std::string> fields = Split(line);
  if (fields.front() == kObserved && fields.size() == 1) return PassObserved{};
  if (fields.front() == kLingers && fields.size() == 1) return PassLingers{};
  if (fields.front() == kWake && fields.size() == 4) {
    if (const auto cause = FromDigits(fields[1], WakeCause::kToldToEnd)) return Wake{*cause, fields[2], fields[3]};
  }
  if (fields.front() == kEntry && fields.size() == 13) {
    const auto level = FromDigits(fields[1], LogLevel::kDebug);
    const auto is_message = FromDigits(fields[2], true);
    const auto lasts = FromDigits(fields[12], kLongestLast);
    if (level && is_message && lasts) {
      const LogFields about{fields[5], fields[6], fields[7], fields[8], fields[9], fields[10], fields[11]};
      return LogEntry{*level, *is_message, fields[3], fields[4], about, std::chrono::seconds(*lasts)};
    }
  }
  if (fields.front() == kEnded && fields.size() == 7) {
    const auto code = FromDigits(fields[1], ExitCode::kTerminated);
    const auto looked = FromDigits(fields[2], Looked::kAtAll);
    const auto unauthorized = FromDigits(fields[3], true);
    const auto loaded = FromDigits(fields[4], true);
    const Result<PassNumbers> numbers = DecodePassNumbers(fields[5]);
    if (code && looked && unauthorized && loaded && numbers) {
      return PassEnded{*code, *looked, *unauthorized, *loaded, fields[6], *numbers};
    }
  }
  return Fail(ErrorCode::kMalformed, "a pass sent a report that can't be parsed");
}

}  // namespace cnpa
