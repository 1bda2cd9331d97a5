// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/random.h"

namespace cnpa {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

Time At(std::int64_t seconds_since_epoch) {
  return Time(seconds(seconds_since_epoch));
}

TEST_CASE("FormatTime writes what Kubernetes writes", "[base][time]") {
  CHECK(FormatTime(At(0)) == "1970-01-01T00:00:00Z");
  CHECK(FormatTime(At(951782399)) == "2000-02-28T23:59:59Z");
  CHECK(FormatTime(At(951782400)) == "2000-02-29T00:00:00Z");
  CHECK(FormatTime(At(4102444799)) == "2099-12-31T23:59:59Z");
  CHECK(FormatTime(At(-1)) == "1969-12-31T23:59:59Z");
}

TEST_CASE("ParseTime reads RFC 3339", "[base][time]") {
  CHECK(ParseTime("2000-02-29T14:04:56+01:30") == At(951827696));
  CHECK(ParseTime("2000-02-28T23:04:56.5-13:30") == At(951827696));
  CHECK(ParseTime("1970-01-01T00:00:00Z") == At(0));
  CHECK(ParseTime("2000-02-29T12:34:56Z") == At(951827696));
  CHECK(ParseTime("2000-02-29T12:34:56.9Z") == At(951827696));
  CHECK(ParseTime("2000-02-29T12:34:56.123456789Z") == At(951827696));
  CHECK(ParseTime("2016-12-31T23:59:60Z") == ParseTime("2017-01-01T00:00:00Z"));
}

TEST_CASE("ParseTime refuses all else, and says what would be right", "[base][time]") {
  for (const std::string text : {
           "",
           "2000-02-30T00:00:00Z",
           "2001-02-29T00:00:00Z",
           "2000-13-01T00:00:00Z",
           "2000-00-01T00:00:00Z",
           "2000-01-00T00:00:00Z",
           "2000-01-01T24:00:00Z",
           "2000-01-01T00:60:00Z",
           "2000-01-01T00:00:61Z",
           "9999-12-31T23:59:60Z",
           "2000-01-01T00:00:00",
           "2000-01-01T00:00:00z",
           "2000-01-01t00:00:00Z",
           "2000-01-01 00:00:00Z",
           "2000-01-01T00:00:00+01",
           "2000-01-01T00:00:00+0100",
           "2000-01-01T00:00:00+24:00",
           "2000-01-01T00:00:00-01:60",
           "2000-01-01T00:00:00+01:00Z",
           "2000-01-01T00:00:00Z ",
           " 2000-01-01T00:00:00Z",
           "2000-1-1T0:0:0Z",
           "20000-01-01T00:00:00Z",
           "-200-01-01T00:00:00Z",
           "2000-01-01T00:00:00.Z",
           "yesterday",
       }) {
    CAPTURE(text);
    CHECK(ErrorOf(ParseTime(text)) ==
          Error{ErrorCode::kInvalid, "'" + text + "' is not a timestamp such as 2026-11-29T15:27:53Z"});
  }
}

TEST_CASE("ParseTime undoes FormatTime", "[base][time]") {
  Random random(2);
  for (int i = 0; i < 1000; ++i) {
    const Time time = At(static_cast<std::int64_t>(random.Below(4000000000U)));
    REQUIRE(ParseTime(FormatTime(time)) == time);
  }
}

TEST_CASE("ParseDuration reads spans as Go and systemd users write them", "[base][time]") {
  struct Case {
    std::string text;
    milliseconds want;
  };
  const std::vector<Case> cases{
      {"0", milliseconds(0)},
      {"0s", milliseconds(0)},
      {"500ms", milliseconds(500)},
      {"3s", seconds(3)},
      {"1m30s", seconds(90)},
      {"2h", hours(2)},
      {"1h1m1s1ms", milliseconds(3661001)},
      {"90m", minutes(90)},
      {"1000h", hours(1000)},
      {"007s", seconds(7)},
      {"1m500ms", milliseconds(60500)},
      {"3600000000ms", hours(1000)},
      {"1.5s", milliseconds(1500)},
      {"0.25h", minutes(15)},
      {"1.0005s", seconds(1)},
      {"1.999999999999s", milliseconds(1999)},
      {"5min", minutes(5)},
      {"10sec", seconds(10)},
      {"1h 30min", minutes(90)},
      {"1d", hours(24)},
      {"1day 2hours 3minutes 4seconds 5msec", milliseconds(93784005)},
      {"1hr1minute1second", seconds(3661)},
      {"2days", hours(48)},
      {"1hour", hours(1)},
      {" 3 s ", seconds(3)},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.text) {
      CHECK(ParseDuration(c.text) == c.want);
    }
  }
}

TEST_CASE("ParseDuration refuses all else, and says what would be right", "[base][time]") {
  for (const std::string text : {"",
                                 "3",
                                 "s",
                                 "-3s",
                                 "+3s",
                                 " ",
                                 "3 ",
                                 "3M",
                                 "3y",
                                 "3us",
                                 "3secs",
                                 "1.s",
                                 ".5s",
                                 "1.5",
                                 "1..5s",
                                 "1,5s",
                                 "- 3s",
                                 "3s-1s",
                                 "1e3s",
                                 "42d",
                                 "infinity",
                                 "3S",
                                 "1h30",
                                 "s3",
                                 "00",
                                 "1001h",
                                 "1000h1ms",
                                 "3600000001ms",
                                 "9223372036854775807h",
                                 "92233720368547758080s",
                                 "0x3s"}) {
    CAPTURE(text);
    CHECK(ErrorOf(ParseDuration(text)) ==
          Error{ErrorCode::kInvalid, "'" + text + "' is not a duration such as 500ms, 3s or 1m30s"});
  }
}

TEST_CASE("FormatDuration shows the two largest units at most", "[base][time]") {
  struct Case {
    milliseconds span;
    std::string want;
  };
  const std::vector<Case> cases{
      {milliseconds(0), "0 ms"},
      {milliseconds(41), "41 ms"},
      {milliseconds(999), "999 ms"},
      {milliseconds(1000), "1 s"},
      {milliseconds(1050), "1 s"},
      {milliseconds(1399), "1.3 s"},
      {milliseconds(59999), "59.9 s"},
      {minutes(1), "1m"},
      {seconds(252), "4m12s"},
      {minutes(185), "3h5m"},
      {hours(1) + seconds(59), "1h"},
      {hours(52), "2d4h"},
      {hours(48), "2d"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.want) {
      CHECK(FormatDuration(c.span) == c.want);
    }
  }
}

TEST_CASE("ParseHttpDate reads what servers send, and nothing else", "[base][time]") {
  CHECK(FormatTime(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT").value()) == "1994-11-06T08:49:37Z");
  CHECK(FormatTime(ParseHttpDate("Mon, 30 Nov 2026 00:13:45 GMT").value()) == "2026-11-30T00:13:45Z");
  for (const std::string text :
       {"", "now", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 ovD 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 19x4 08:49:37 GMT"}) {
    CAPTURE(text);
    CHECK(ErrorOf(ParseHttpDate(text)) ==
          Error{ErrorCode::kInvalid, "'" + text + "' is not a date such as Sun, 06 Nov 1994 08:49:37 GMT"});
  }
}

}  // namespace
}  // namespace cnpa
