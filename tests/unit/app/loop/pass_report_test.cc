// SPDX-License-Identifier: Apache-2.0
#include "app/loop/pass_report.h"

#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("DecodePassMessage reads what EncodePassMessage writes", "[app][pass_report]") {
  PassNumbers numbers{.read = true};
  numbers.requests[RequestIndex("list", 200)] = 3;
  numbers.requests[RequestIndex("patch", 0)] = 1;
  const std::vector<PassMessage> messages{
      LogEntry{},
      LogEntry{
          LogLevel::kDebug, true, "text: a | b", "TeamSpace/red: Forbidden", {"red", "TeamSpace/red", "Forbidden"}},
      LogEntry{
          LogLevel::kInfo, false, "~", "", {"red", "Namespace/team-red", "Differs", "update", "a, b", "1, 2", "3, 4"}},
      LogEntry{LogLevel::kWarn, false, "again and again", "TeamSpace/red: Contested", {}, std::chrono::minutes(10)},
      LogEntry{LogLevel::kError, false, "\x1b[31m!\x1b[0m \xff", {}, {}},
      PassObserved{},
      PassLingers{},
      Wake{WakeCause::kToldToEnd, "", "told to end"},
      Wake{WakeCause::kSomethingToDo, "red", "work"},
      PassEnded{},
      PassEnded{ExitCode::kTerminated, Looked::kAtAll, true, true, "5 team spaces in sync", numbers},
  };
  for (const PassMessage& message : messages) {
    std::string line = EncodePassMessage(message);
    REQUIRE(line.ends_with('\n'));
    line.pop_back();
    REQUIRE(line.find('\n') == std::string::npos);
    const Result<PassMessage> decoded = DecodePassMessage(line);
    REQUIRE(decoded);
    CHECK(*decoded == message);
  }
}

TEST_CASE("EncodePassMessage keeps a message in one line and its fields apart", "[app][pass_report]") {
  std::string line = EncodePassMessage(LogEntry{LogLevel::kInfo,
                                                false,
                                                "a\nb\x1f"
                                                "c",
                                                {},
                                                {}});
  line.pop_back();
  const Result<PassMessage> decoded = DecodePassMessage(line);
  REQUIRE(decoded);
  CHECK(*decoded == PassMessage(LogEntry{LogLevel::kInfo, false, "a b c", {}, {}}));
}

TEST_CASE("EncodePassMessage writes no line that its reader may drop", "[app][pass_report]") {
  const std::string huge(std::size_t{1} << 20U, 'x');
  const std::vector<PassMessage> messages{
      LogEntry{LogLevel::kWarn, true, huge, huge, {huge, huge, huge, huge, huge, huge, huge}},
      Wake{WakeCause::kForbidden, "red", huge}};
  for (const PassMessage& message : messages) {
    std::string line = EncodePassMessage(message);
    CHECK(line.size() < kLongestPassLineBytes);
    line.pop_back();
    CHECK(DecodePassMessage(line));
  }
}

TEST_CASE("DecodePassMessage refuses what no pass writes", "[app][pass_report]") {
  const std::string whole = EncodePassMessage(PassEnded{});
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) CHECK_FALSE(DecodePassMessage(whole.substr(0, size)));
  for (const char* line : {"", "entry", "observed\x1f",
                           "ended\x1f"
                           "9999\x1f"
                           "0\x1f"
                           "0\x1f"
                           "0\x1f",
                           "entry\x1f"
                           "4\x1f"
                           "0\x1f\x1f\x1f\x1f\x1f",
                           "entry\x1f-1\x1f"
                           "0\x1f\x1f\x1f\x1f\x1f",
                           "ended\x1f"
                           "0\x1f"
                           "3\x1f"
                           "0\x1f"
                           "0\x1f"
                           "\x1f",
                           "ended\x1f"
                           "0\x1f"
                           "2\x1f"
                           "0\x1f"
                           "0\x1f"
                           "r9999:1\x1f"}) {
    const Result<PassMessage> decoded = DecodePassMessage(line);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error() == Error{ErrorCode::kMalformed, "a pass sent a report that can't be parsed"});
  }
}

}  // namespace
}  // namespace cnpa
