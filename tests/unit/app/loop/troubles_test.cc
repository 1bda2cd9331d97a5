// SPDX-License-Identifier: Apache-2.0
#include "app/loop/troubles.h"

#include <algorithm>
#include <string>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

const Troubles::Moment kStart{};

LogEntry Refused(const std::string& name, const std::string& words = "no") {
  return {
      LogLevel::kWarn, false, "! TeamSpace/" + name + " " + words, "TeamSpace/" + name + ": Forbidden", {name, {}, {}}};
}

LogEntry Failed(const std::string& words) {
  return {LogLevel::kError, true, words, {}, {}};
}

/// Makes a pass that says `entries`, and returns what is told of it and of its end.
Lines Pass(Troubles& troubles, const std::vector<LogEntry>& entries, Looked looked, Troubles::Moment now) {
  Lines told;
  for (const LogEntry& entry : entries) {
    if (troubles.Note(entry, now)) told.push_back(entry.text);
  }
  for (const LogEntry& over : troubles.EndPass(looked, now)) told.push_back(over.text);
  return told;
}

TEST_CASE("Troubles tells a trouble when it begins and when it is over", "[app][troubles]") {
  Troubles troubles;
  CHECK(Pass(troubles, {Refused("a"), Refused("b")}, Looked::kAtAll, kStart) ==
        Lines{"! TeamSpace/a no", "! TeamSpace/b no"});
  CHECK(Pass(troubles, {Refused("a"), Refused("b")}, Looked::kAtAll, kStart + 3s).empty());
  CHECK(Pass(troubles, {Refused("b")}, Looked::kAtAll, kStart + 6s) ==
        Lines{"over after 2 passes in 6 s: TeamSpace/a: Forbidden"});
  CHECK(troubles.size() == 1);
  CHECK(Pass(troubles, {Refused("a")}, Looked::kAtAll, kStart + 2h) ==
        Lines{"! TeamSpace/a no", "over after 3 passes in 2h: TeamSpace/b: Forbidden"});
}

TEST_CASE("Troubles tells names apart that differ in a digit", "[app][troubles]") {
  Troubles troubles;
  CHECK(Pass(troubles, {Refused("a-1"), Refused("a-2")}, Looked::kAtAll, kStart).size() == 2);
}

TEST_CASE("Troubles takes numbers in a line for the same line, and other words for news", "[app][troubles]") {
  Troubles troubles;
  CHECK(Pass(troubles, {Failed("no answer within 4.7 s")}, Looked::kAtNothing, kStart).size() == 1);
  CHECK(Pass(troubles, {Failed("no answer within 4.8 s")}, Looked::kAtNothing, kStart).empty());
  CHECK(Pass(troubles, {Failed("connection refused")}, Looked::kAtNothing, kStart) == Lines{"connection refused"});
  CHECK(Pass(troubles, {Failed("no answer within 5 s")}, Looked::kAtNothing, kStart).empty());
  CHECK(Pass(troubles, {}, Looked::kAtAll, kStart + 10s) ==
        Lines{"over after 4 passes in 10 s: no answer within 4.7 s"});
}

TEST_CASE("Troubles takes nothing for over that a pass has not looked at", "[app][troubles]") {
  Troubles troubles;
  Pass(troubles, {Refused("a")}, Looked::kAtAll, kStart);
  CHECK(Pass(troubles, {Failed("away")}, Looked::kAtNothing, kStart + 1s) == Lines{"away"});
  CHECK(Pass(troubles, {}, Looked::kAtSome, kStart + 2s) == Lines{"over after 1 pass in 1 s: away"});
  CHECK(Pass(troubles, {Refused("a")}, Looked::kAtAll, kStart + 3s).empty());
  CHECK(Pass(troubles, {}, Looked::kAtAll, kStart + 4s) == Lines{"over after 2 passes in 4 s: TeamSpace/a: Forbidden"});
}

TEST_CASE("Troubles takes what lasts for over once it was not mentioned for so long", "[app][troubles]") {
  Troubles troubles;
  LogEntry fight = Refused("a");
  fight.lasts = 10s;
  CHECK(Pass(troubles, {fight}, Looked::kAtAll, kStart) == Lines{"! TeamSpace/a no"});
  CHECK(Pass(troubles, {}, Looked::kAtAll, kStart + 9s).empty());
  CHECK(Pass(troubles, {fight}, Looked::kAtAll, kStart + 9s).empty());
  CHECK(Pass(troubles, {}, Looked::kAtAll, kStart + 18s).empty());
  CHECK(Pass(troubles, {}, Looked::kAtAll, kStart + 19s) ==
        Lines{"over after 2 passes in 19 s: TeamSpace/a: Forbidden"});
  CHECK(Pass(troubles, {fight}, Looked::kAtAll, kStart + 20s) == Lines{"! TeamSpace/a no"});
}

TEST_CASE("Troubles lets through what is no trouble each time, and a warning once an hour", "[app][troubles]") {
  Troubles troubles;
  const LogEntry change{LogLevel::kInfo, false, "+ Namespace/a", {}, {}};
  const LogEntry warning{LogLevel::kWarn, true, "the server warns", {}, {}};
  CHECK(Pass(troubles, {change, change, warning, warning}, Looked::kAtAll, kStart) ==
        Lines{"+ Namespace/a", "+ Namespace/a", "the server warns"});
  CHECK(Pass(troubles, {change, warning}, Looked::kAtAll, kStart + 59min) == Lines{"+ Namespace/a"});
  CHECK(Pass(troubles, {warning}, Looked::kAtAll, kStart + 118min).empty());  // Heard of all the time.
  CHECK(Pass(troubles, {warning}, Looked::kAtAll, kStart + 4h) == Lines{"the server warns"});
}

/// One that concerns all team spaces.
LogEntry General(const std::string& name) {
  return {LogLevel::kWarn, false, "! " + name, name, {}};
}

TEST_CASE("Troubles remembers a bounded number of them", "[app][troubles]") {
  Troubles troubles;
  std::size_t told = 0;
  for (int i = 0; i < 5000; ++i) {
    if (troubles.Note(Refused(std::to_string(i)), kStart)) ++told;
    if (troubles.Note(General(std::to_string(i)), kStart)) ++told;
    troubles.Note({LogLevel::kWarn, true, std::string(static_cast<std::size_t>(i), 'x'), {}, {}}, kStart);
  }
  CHECK(told == 2000);
  CHECK(troubles.size() == 2000);
}

std::vector<LogEntry> ManyRefused(int first, int count) {
  std::vector<LogEntry> entries;
  for (int i = first; i < first + count; ++i) entries.push_back(Refused(std::to_string(i)));
  return entries;
}

TEST_CASE("Troubles of a thousand team spaces hide nothing that concerns all", "[app][troubles]") {
  Troubles troubles;
  const Lines first = Pass(troubles, ManyRefused(0, 1250), Looked::kAtAll, kStart);
  REQUIRE(first.size() == 1001);
  CHECK(first.back() == "! and 250 more like these, which are not logged one by one");
  CHECK(troubles.size() == 1250);
  CHECK(Pass(troubles, ManyRefused(0, 1250), Looked::kAtAll, kStart).empty());
  CHECK(Pass(troubles, {Failed("the server is away")}, Looked::kAtNothing, kStart) == Lines{"the server is away"});
  CHECK(Pass(troubles, {Failed("the server is away")}, Looked::kAtNothing, kStart).empty());
  CHECK(troubles.size() == 1251);
  std::vector<LogEntry> entries = ManyRefused(0, 1250);
  entries.push_back(General("no metrics can be written"));
  CHECK(Pass(troubles, entries, Looked::kAtAll, kStart + 1s) ==
        Lines{"! no metrics can be written", "over after 2 passes in 1 s: the server is away"});
}

TEST_CASE("Troubles that are over make room for those that were only counted", "[app][troubles]") {
  Troubles troubles;
  Pass(troubles, ManyRefused(0, 1250), Looked::kAtAll, kStart);
  // The first 500 are fixed: that is said of each, however many are left.
  const Lines fixed = Pass(troubles, ManyRefused(500, 750), Looked::kAtAll, kStart + 1s);
  CHECK(std::count_if(fixed.begin(), fixed.end(), [](const std::string& line) { return line.starts_with("over "); }) ==
        500);
  const Lines rest = Pass(troubles, ManyRefused(500, 750), Looked::kAtAll, kStart + 2s);
  CHECK(rest.size() == 250);
  CHECK(troubles.size() == 750);
}

}  // namespace
}  // namespace cnpa
