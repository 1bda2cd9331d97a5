// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace cnpa {
namespace {

using std::chrono::milliseconds;

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};
constexpr std::array<Unit, 17> kUnits{{{"ms", 1},
                                       {"msec", 1},
                                       {"s", 1000},
                                       {"sec", 1000},
                                       {"second", 1000},
                                       {"seconds", 1000},
                                       {"m", 60L * 1000},
                                       {"min", 60L * 1000},
                                       {"minute", 60L * 1000},
                                       {"minutes", 60L * 1000},
                                       {"h", 3600L * 1000},
                                       {"hr", 3600L * 1000},
                                       {"hour", 3600L * 1000},
                                       {"hours", 3600L * 1000},
                                       {"d", 24L * 3600 * 1000},
                                       {"day", 24L * 3600 * 1000},
                                       {"days", 24L * 3600 * 1000}}};
// In seconds.
constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kLongestMilliseconds = std::int64_t{1000} * 3600 * 1000;

tl::unexpected<Error> NotADuration(std::string_view text) {
  return Fail(ErrorCode::kInvalid, "'" + std::string(text) + "' is not a duration such as 500ms, 3s or 1m30s");
}

constexpr std::int64_t kBillion = 1'000'000'000;

/// "1.5": 1 and 500,000,000 billionths.
struct Number {
  std::int64_t whole = 0;
  std::int64_t billionths = 0;
};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

void SkipBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

/// Takes a number without sign off the front of `text`; what is less than a billionth is dropped.
std::optional<Number> TakeNumber(std::string_view& text) {
  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.whole);
  if (error != std::errc() || number.whole < 0 || !IsDigit(text.front())) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with('.')) return number;
  text.remove_prefix(1);
  if (text.empty() || !IsDigit(text.front())) return std::nullopt;
  for (std::int64_t place = kBillion / 10; !text.empty() && IsDigit(text.front()); place /= 10) {
    number.billionths += (text.front() - '0') * place;
    text.remove_prefix(1);
  }
  return number;
}

/// Takes the name of a unit off the front of `text` and returns its milliseconds.
std::optional<std::int64_t> TakeUnit(std::string_view& text) {
  const std::size_t size = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), text.size());
  for (const Unit& unit : kUnits) {
    if (unit.name != text.substr(0, size)) continue;
    text.remove_prefix(size);
    return unit.milliseconds;
  }
  return std::nullopt;
}

/// Reads `count` digits at the front of `text`, takes them off, and returns them as a number, or -1.
int TakeDigits(std::string_view& text, std::size_t count) {
  int number = 0;
  if (text.size() < count) return -1;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return number;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

/// Takes "Z", "+hh:mm" or "-hh:mm" off the front of `text`: how far a clock is ahead of UTC.
std::optional<std::chrono::minutes> TakeOffset(std::string_view& text) {
  if (TakeChar(text, 'Z')) return std::chrono::minutes(0);
  const bool ahead = TakeChar(text, '+');
  if (!ahead && !TakeChar(text, '-')) return std::nullopt;
  const int hours = TakeDigits(text, 2);
  const bool colon = TakeChar(text, ':');
  const int minutes = TakeDigits(text, 2);
  if (!colon || hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  const std::chrono::minutes offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  return ahead ? offset : -offset;
}

}  // namespace

std::string FormatTime(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

Result<Time> ParseTime(std::string_view text) {
  const std::string_view whole = text;
  const int year = TakeDigits(text, 4);
  const bool first_dash = TakeChar(text, '-');
  const int month = TakeDigits(text, 2);
  const bool second_dash = TakeChar(text, '-');
  const int day = TakeDigits(text, 2);
  const bool date_ends = TakeChar(text, 'T');
  const int hour = TakeDigits(text, 2);
  const bool first_colon = TakeChar(text, ':');
  const int minute = TakeDigits(text, 2);
  const bool second_colon = TakeChar(text, ':');
  const int second = TakeDigits(text, 2);
  bool fraction = true;  // Right, or not there.
  if (TakeChar(text, '.')) {
    fraction = TakeDigits(text, 1) >= 0;
    while (TakeDigits(text, 1) >= 0) {
    }
  }
  const std::optional<std::chrono::minutes> offset = TakeOffset(text);
  const bool ends = fraction && offset && text.empty();
  const auto wrong = [whole] {
    return Fail(ErrorCode::kInvalid, "'" + std::string(whole) + "' is not a timestamp such as 2026-11-29T15:27:53Z");
  };
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!(first_dash && second_dash && date_ends && first_colon && second_colon && ends) || year < 0 || month < 0 ||
      day < 0 || !date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) {
    return wrong();
  }
  const Time time = std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
                    std::chrono::seconds(second) - *offset;
  // A leap second, or an offset, may lead out of the years that can be written.
  const std::chrono::year_month_day utc(std::chrono::floor<std::chrono::days>(time));
  if (utc.year() < std::chrono::year(0) || utc.year() > std::chrono::year(9999)) return wrong();
  return time;
}

Result<Time> ParseHttpDate(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr std::size_t kMonthAt = 8;
  const tl::unexpected<Error> wrong =
      Fail(ErrorCode::kInvalid, "'" + std::string(text) + "' is not a date such as Sun, 06 Nov 1994 08:49:37 GMT");
  if (text.size() != std::string_view("Sun, 06 Nov 1994 08:49:37 GMT").size()) return wrong;
  const std::size_t month = kMonths.find(text.substr(kMonthAt, 3));
  if (month == std::string_view::npos || month % 3 != 0) return wrong;
  const auto slice = [&text](std::size_t at, std::size_t count) { return std::string(text.substr(at, count)); };
  const std::string number = std::to_string(month / 3 + 1);
  const Result<Time> time = ParseTime(slice(12, 4) + "-" + (number.size() == 1 ? "0" : "") + number + "-" +
                                      slice(5, 2) + "T" + slice(17, 8) + "Z");
  if (!time || slice(3, 2) != ", " || text[7] != ' ' || text[11] != ' ' || slice(25, 4) != " GMT" || text[16] != ' ') {
    return wrong;
  }
  return *time;
}

Result<milliseconds> ParseDuration(std::string_view text) {
  if (text == "0") return milliseconds(0);
  std::string_view rest = text;
  std::int64_t total = 0;
  bool any = false;
  for (SkipBlanks(rest); !rest.empty(); SkipBlanks(rest)) {
    const std::optional<Number> number = TakeNumber(rest);
    SkipBlanks(rest);
    const std::optional<std::int64_t> unit = TakeUnit(rest);
    if (!number || !unit || number->whole > kLongestMilliseconds / *unit) return NotADuration(text);
    total += number->whole * *unit + number->billionths * *unit / kBillion;
    any = true;
  }
  if (!any || total > kLongestMilliseconds) return NotADuration(text);
  return milliseconds(total);
}

std::string FormatDuration(milliseconds span) {
  const std::int64_t ms = span.count();
  if (ms < 1000) return std::to_string(ms) + " ms";
  if (ms < kMinute * 1000) {
    const std::int64_t tenths = ms % 1000 / 100;
    return std::to_string(ms / 1000) + (tenths == 0 ? "" : "." + std::to_string(tenths)) + " s";
  }
  return FormatAge(std::chrono::floor<std::chrono::seconds>(span));
}

std::string FormatAge(std::chrono::seconds age) {
  const auto pair = [](std::int64_t major, const char* major_unit, std::int64_t minor, const char* minor_unit) {
    return std::to_string(major) + major_unit + (minor == 0 ? "" : std::to_string(minor) + minor_unit);
  };
  const std::int64_t s = age.count();
  if (s < kMinute) return std::to_string(s) + "s";
  if (s < kHour) return pair(s / kMinute, "m", s % kMinute, "s");
  if (s < kDay) return pair(s / kHour, "h", s % kHour / kMinute, "m");
  return pair(s / kDay, "d", s % kDay / kHour, "h");
}

}  // namespace cnpa
