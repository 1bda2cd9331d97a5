// SPDX-License-Identifier: Apache-2.0
//
// Points in time as Kubernetes writes them, spans of time as Go and systemd users write them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cnpa {

using Time = std::chrono::sys_seconds;

/// Returns `time` as "2026-11-29T15:27:53Z".
///
/// Source:  RFC 3339; metav1.Time.
std::string FormatTime(Time time);

/// Parses what FormatTime() writes, or that of another time zone, "2026-11-29T16:27:53+01:00"; fractions of a second
/// are dropped.
///
/// Errors:  kInvalid when `text` is not a timestamp of RFC 3339.
Result<Time> ParseTime(std::string_view text);

/// Parses the form of a date in HTTP that servers send: "Sun, 06 Nov 1994 08:49:37 GMT".
///
/// Errors:  kInvalid.
/// Source:  RFC 9110, section 5.6.7, IMF-fixdate.
Result<Time> ParseHttpDate(std::string_view text);

/// Parses a span as Go and systemd users write it: "500ms", "1.5s", "1m30s", "2h", "5min", "1h 30min", "1d", "0".
///
/// Units:   whole milliseconds; what is less is dropped.
/// Errors:  kInvalid when `text` is not such a span, is negative, or exceeds 1000 hours.
/// Source:  Go, time.ParseDuration; systemd.time(7), parsing time spans.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

/// Returns a span for people, in its two largest units at most: "41 ms", "1.3 s", "3 s", "4m12s", "3h5m", "2d4h".
std::string FormatDuration(std::chrono::milliseconds span);

/// Returns an age for people: "4s", "4m12s", "3h5m", "2d4h".
std::string FormatAge(std::chrono::seconds age);

}  // namespace cnpa
