// SPDX-License-Identifier: Apache-2.0
#include "app/pass/contests.h"

#include <string>
#include <vector>

#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace cnpa {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

/// A chain that repairs two fields of the quota of "red", and puts its finalizer on again.
Chain DriftedChain() {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas[0].hard = {{"pods", "99"}, {"requests.cpu", "64"}};
  cluster.quotas[0].writers["spec.hard.pods"] = {"helm", "Update", "", kNow};
  cluster.team_spaces[0].finalizers.clear();
  return ComputePlan(cluster).chains.at(0);
}

/// Passes, one after the other, with what they say.
struct Bench {
  /// Makes a pass that makes the first `done` changes of `chain`, and returns what it marked.
  std::optional<Chain> Pass(const Chain& chain, std::size_t done, Time now) {
    const Log log(LogLevel::kDebug, LogFormat::kText, [this](const LogEntry& entry) { said.push_back(entry.text); });
    Memory memory(folder, log);
    Contests contests(memory);
    std::optional<Chain> marked = contests.Note(chain, done, now);
    const Renderer renderer(now, {}, "");
    lines.clear();
    for (const LogEntry& line : contests.Lines(renderer)) lines.push_back(line.text);
    repairs = contests.repairs();
    memory.Save(now);
    return marked;
  }

  TempFolder temp;
  std::string folder = temp.Path("run");
  Lines said;
  Lines lines;
  std::uint64_t repairs = 0;
};

TEST_CASE("Contests marks what is repaired again and again, and has a line on each", "[app][contests]") {
  Bench bench;
  const Chain chain = DriftedChain();
  CHECK_FALSE(bench.Pass(chain, 2, kNow));
  CHECK_FALSE(bench.Pass(chain, 2, kNow + 3s));
  CHECK(bench.lines.empty());
  CHECK(bench.repairs == 0);
  const std::optional<Chain> marked = bench.Pass(chain, 2, kNow + 6s);
  REQUIRE(marked);
  Chain want = chain;
  want.changes[0].contested = Contest{3, kNow};
  for (FieldChange& field : want.changes[1].fields) field.contested = Contest{3, kNow};
  CHECK(*marked == want);
  CHECK(bench.repairs == 3);
  const std::string often = " again and again (3 times since 2031-05-06T07:08:09Z); stop it, or change the TeamSpace";
  const std::string front = "! TeamSpace/red                            Contested: ";
  const std::string quota = " of ResourceQuota/team-red/team-quota";
  CHECK(bench.lines ==
        Lines{front + "helm sets spec.hard.pods" + quota + often,
              front + "somebody sets spec.hard.requests.cpu" + quota + often,
              front + "somebody takes the finalizer platform.labhub.io/cleanup off TeamSpace/red" + often});
  CHECK(bench.said.empty());
}

TEST_CASE("Contests notes only what was done", "[app][contests]") {
  Bench bench;
  const Chain chain = DriftedChain();
  for (int i = 0; i < 5; ++i) bench.Pass(chain, 0, kNow);
  CHECK(bench.temp.Names("run").empty());
  for (int i = 0; i < 5; ++i) bench.Pass(chain, 1, kNow);
  CHECK(bench.lines.size() == 1);
}

TEST_CASE("Contests::Lines are troubles that last, and differ from pass to pass by digits only", "[app][contests]") {
  const TempFolder temp;
  const Log log(LogLevel::kError, LogFormat::kText, [](const LogEntry&) {});
  Memory memory(temp.path(), log);
  Contests contests(memory);
  for (int i = 0; i < 3; ++i) contests.Note(DriftedChain(), 1, kNow);
  const LogEntry entry = contests.Lines(Renderer(kNow, {}, "")).at(0);
  CHECK(entry.level == LogLevel::kWarn);
  CHECK(entry.lasts == kFightWindow);
  CHECK(entry.trouble ==
        "TeamSpace/red: Contested: somebody takes the finalizer platform.labhub.io/cleanup off TeamSpace/red again and "
        "again");
  CHECK(entry.fields == LogFields{"red", "TeamSpace/red", "Contested"});
}

TEST_CASE("Contests does without a memory where it must, and says so at debug once a pass", "[app][contests]") {
  Bench bench;
  const Chain chain = DriftedChain();
  SECTION("no folder") {
    bench.folder.clear();
  }
  SECTION("no folder above it") {
    bench.folder = bench.temp.Path("a/b/c");
  }
  SECTION("a file in its place") {
    bench.folder = bench.temp.Write("file", "");
  }
  SECTION("a folder in the file's place") {
    bench.temp.Write("run/memory.json/file", "");
  }
  for (int i = 0; i < 5; ++i) CHECK_FALSE(bench.Pass(chain, 2, kNow));
  CHECK(bench.said.size() >= 5);
  CHECK(bench.lines.empty());
}

TEST_CASE("Contests forgets a file that is none of ours, and writes it anew", "[app][contests]") {
  Bench bench;
  bench.temp.Write("run/memory.json", "something else");
  CHECK_FALSE(bench.Pass(DriftedChain(), 2, kNow));
  CHECK(bench.said.size() == 1);
  CHECK(LoadMemory(bench.folder)->repairs.entries().size() == 3);
}

TEST_CASE("Contests recognises a fight within one run, too", "[app][contests]") {
  const TempFolder temp;
  const Log log(LogLevel::kError, LogFormat::kText, [](const LogEntry&) {});
  Memory memory(temp.path(), log);
  Contests contests(memory);
  const Chain chain = DriftedChain();
  CHECK_FALSE(contests.Note(chain, 2, kNow));
  CHECK_FALSE(contests.Note(chain, 2, kNow));
  CHECK(contests.Note(chain, 2, kNow));
}

}  // namespace
}  // namespace cnpa
