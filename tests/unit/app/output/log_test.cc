// SPDX-License-Identifier: Apache-2.0
#include "app/output/log.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <pty.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "kube/json/json.h"
#include "support/capture.h"
#include "support/catch.h"
#include "support/child.h"

namespace cnpa {
namespace {

std::string Written(LogLevel level, LogFormat format, const std::function<void(const Log&)>& write) {
  const Log log(level, format);
  CapturedStream captured(stderr);
  write(log);
  return captured.Text();
}

void WriteAll(const Log& log) {
  log.Error("one");
  log.Warn("two");
  log.Write({.level = LogLevel::kInfo, .text = "three", .trouble = {}, .fields = {}});
  log.Debug("four");
}

TEST_CASE("Log shows its level and what is graver", "[app][log]") {
  CHECK(Written(LogLevel::kError, LogFormat::kText, &WriteAll) == "cnpa-op: one\n");
  CHECK(Written(LogLevel::kWarn, LogFormat::kText, &WriteAll) == "cnpa-op: one\ncnpa-op: warning: two\n");
  CHECK(Written(LogLevel::kInfo, LogFormat::kText, &WriteAll) == "cnpa-op: one\ncnpa-op: warning: two\nthree\n");
  CHECK(Written(LogLevel::kDebug, LogFormat::kText, &WriteAll) ==
        "cnpa-op: one\ncnpa-op: warning: two\nthree\ncnpa-op: debug: four\n");
}

/// Returns what goes to a terminal that is stderr.
std::string WrittenToTerminal(LogFormat format) {
  int main = -1;
  int terminal = -1;
  REQUIRE(::openpty(&main, &terminal, nullptr, nullptr, nullptr) == 0);
  const UniqueFd reader(main);
  CHECK(ExitCodeOfChild([&] {
          if (::dup2(terminal, STDERR_FILENO) < 0) return 1;
          Log log(LogLevel::kInfo, format);
          log.ShowTimes();
          log.Error("one");
          return 0;
        }) == 0);
  std::array<char, 256> text{};
  const ssize_t count = ::read(reader.get(), text.data(), text.size());
  ::close(terminal);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

TEST_CASE("Log shows the time of day on a terminal, and nowhere else", "[app][log]") {
  using Catch::Matchers::Matches;
  CHECK_THAT(WrittenToTerminal(LogFormat::kText), Matches("[0-2][0-9]:[0-5][0-9]:[0-6][0-9] cnpa-op: one\r\n"));
  CHECK(WrittenToTerminal(LogFormat::kJournal) == "<3>one\r\n");
  CapturedStream captured(stderr);
  Log log(LogLevel::kInfo, LogFormat::kText);
  log.ShowTimes();
  log.Error("one");
  CHECK(captured.Text() == "cnpa-op: one\n");
}

TEST_CASE("Log puts the journal's priorities in front", "[app][log]") {
  CHECK(Written(LogLevel::kDebug, LogFormat::kJournal, &WriteAll) == "<3>one\n<4>two\n<6>three\n<7>four\n");
}

TEST_CASE("Log writes one JSON document a line", "[app][log]") {
  std::string line = Written(LogLevel::kInfo, LogFormat::kJson, [](const Log& log) { log.Error("a \"b\"\nc"); });
  REQUIRE(line.ends_with("}\n"));
  CHECK(line.find('\n') == line.size() - 1);
  JsonDocument document;
  REQUIRE(document.Parse(line));
  CHECK(document.root().String("level") == "error");
  CHECK(document.root().String("msg") == "a \"b\"\nc");
  CHECK(ParseTime(document.root().String("time")).has_value());
  std::string warning = Written(LogLevel::kInfo, LogFormat::kJson, [](const Log& log) { log.Warn("x"); });
  REQUIRE(document.Parse(warning));
  CHECK(document.root().String("level") == "warn");  // As the flag calls it.
}

TEST_CASE("Log tells machines what a line is about", "[app][log]") {
  const LogEntry entry{.level = LogLevel::kWarn,
                       .text = "~ of\nred",
                       .trouble = {},
                       .fields = {.team_space = "red", .object = "Namespace/team-red", .reason = "Differs"}};
  std::string line = Written(LogLevel::kInfo, LogFormat::kJson, [&](const Log& log) { log.Write(entry); });
  JsonDocument document;
  REQUIRE(document.Parse(line));
  CHECK(document.root().String("teamSpace") == "red");
  CHECK(document.root().String("object") == "Namespace/team-red");
  CHECK(document.root().String("reason") == "Differs");
  CHECK(JournalDatagram(entry) ==
        "PRIORITY=4\nSYSLOG_IDENTIFIER=cnpa-op\nMESSAGE=~ of red\nCNPA_OP_TEAM_SPACE=red\n"
        "CNPA_OP_OBJECT=Namespace/team-red\nCNPA_OP_REASON=Differs\n");
  CHECK(JournalDatagram({.level = LogLevel::kError, .text = "a", .trouble = {}, .fields = {}}) ==
        "PRIORITY=3\nSYSLOG_IDENTIFIER=cnpa-op\nMESSAGE=a\n");
}

TEST_CASE("Log tells machines what was done, and what was and is", "[app][log]") {
  const LogEntry entry{.text = "~ a b 1 -> 2",
                       .trouble = {},
                       .fields = {.team_space = {},
                                  .object = {},
                                  .reason = {},
                                  .verb = "update",
                                  .field = "spec.hard.pods",
                                  .from = "1",
                                  .to = "2"}};
  std::string line = Written(LogLevel::kInfo, LogFormat::kJson, [&](const Log& log) { log.Write(entry); });
  CHECK(Contains(line, R"("msg":"~ a b 1 -> 2","verb":"update","field":"spec.hard.pods","from":"1","to":"2"})"));
  CHECK(JournalDatagram(entry) ==
        "PRIORITY=6\nSYSLOG_IDENTIFIER=cnpa-op\nMESSAGE=~ a b 1 -> 2\nCNPA_OP_VERB=update\n"
        "CNPA_OP_FIELD=spec.hard.pods\nCNPA_OP_FROM=1\nCNPA_OP_TO=2\n");
}

TEST_CASE("Log gives what it shows to a sink and writes nothing", "[app][log]") {
  CapturedStream captured(stderr);
  std::vector<LogEntry> entries;
  const Log log(LogLevel::kInfo, LogFormat::kText, [&entries](const LogEntry& entry) { entries.push_back(entry); });
  WriteAll(log);
  CHECK(captured.Text().empty());
  CHECK(entries == std::vector<LogEntry>{{LogLevel::kError, true, "one", {}, {}},
                                         {LogLevel::kWarn, true, "two", {}, {}},
                                         {LogLevel::kInfo, false, "three", {}, {}}});
}

TEST_CASE("Log writes a message from outside as one line without control characters", "[app][log]") {
  CHECK(Written(LogLevel::kInfo, LogFormat::kText, [](const Log& log) { log.Error("a\nb\x1b[31mc\x7f"); }) ==
        "cnpa-op: a b [31mc \n");
}

TEST_CASE("Log writes UTF-8 in each format, whatever a message is made of", "[app][log]") {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJournal, LogFormat::kJson}) {
    const std::string line =
        Written(LogLevel::kInfo, format, [](const Log& log) { log.Error("f\xfcr \u009b1m\u202e"); });
    CAPTURE(line);
    CHECK(Contains(line, "f\uFFFDr "));
    CHECK(Printable(line) == line.substr(0, line.size() - 1) + ' ');
  }
}

TEST_CASE("IsJournal compares the stream with what systemd says it is", "[app][log]") {
  struct stat info {};
  REQUIRE(::fstat(STDERR_FILENO, &info) == 0);
  const std::string stream = std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
  CHECK(IsJournal(STDERR_FILENO, stream.c_str()));
  CHECK_FALSE(IsJournal(STDERR_FILENO, (stream + "0").c_str()));
  CHECK_FALSE(IsJournal(STDERR_FILENO, ""));
  CHECK_FALSE(IsJournal(STDERR_FILENO, nullptr));
  CHECK_FALSE(IsJournal(-1, stream.c_str()));
}

TEST_CASE("Log::shows tells whether a line would be seen", "[app][log]") {
  const Log log(LogLevel::kWarn, LogFormat::kText);
  CHECK(log.shows(LogLevel::kError));
  CHECK(log.shows(LogLevel::kWarn));
  CHECK_FALSE(log.shows(LogLevel::kInfo));
  CHECK(log.format() == LogFormat::kText);
}

}  // namespace
}  // namespace cnpa
