// SPDX-License-Identifier: Apache-2.0
#include "app/pass/complaints.h"

#include <string>
#include <vector>

#include <fmt/core.h>

#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using Lines = std::vector<std::string>;

struct Bench {
  void Refuse(const std::string& name, Reason reason, const std::string& message) {
    Chain chain;
    chain.name = name;
    complaints.Add(chain, {.refusal = Refusal{reason, message}}, renderer);
  }

  void RefuseMany(std::size_t number, Reason reason, const std::string& stem) {
    for (std::size_t i = 0; i < number; ++i) Refuse(fmt::format("{}-{}", stem, i), reason, "no");
  }

  void Fail(const std::string& name) {
    Chain chain;
    chain.name = name;
    complaints.Add(chain, {.end = ChainEnd::kFailed, .error = {ErrorCode::kUnavailable, "connection lost"}}, renderer);
  }

  Lines Alike() const {
    Lines lines;
    const Log log(LogLevel::kInfo, LogFormat::kText, [&lines](const LogEntry& entry) { lines.push_back(entry.text); });
    complaints.TellAlike(log, renderer);
    return lines;
  }

  Lines Each() const {
    Lines lines;
    const Log log(LogLevel::kInfo, LogFormat::kText, [&lines](const LogEntry& entry) { lines.push_back(entry.text); });
    complaints.TellEach(log);
    return lines;
  }

  Renderer renderer{kNow, {.columns = {}, .aligned = false}, ""};
  Complaints complaints;
};

TEST_CASE("Complaints::TellAlike has a line each for few", "[app][complaints]") {
  Bench bench;
  bench.RefuseMany(5, Reason::kNamespaceConflict, "clash");
  CHECK(bench.Alike() == bench.Each());
  CHECK(bench.Alike().size() == 5);
  CHECK(bench.Alike().front() == "! TeamSpace/clash-0 NamespaceConflict: no");
}

TEST_CASE("Complaints::TellAlike groups many by their reason, and shows one of them", "[app][complaints]") {
  Bench bench;
  bench.RefuseMany(32, Reason::kNamespaceConflict, "clash");
  bench.Fail("lost");
  bench.RefuseMany(6, Reason::kNamespaceTerminating, "old");
  bench.Refuse("bad", Reason::kInvalidQuantity, "spec.cpu");
  const std::string clashes =
      "! 31 more team spaces NamespaceConflict: clash-1, clash-10, clash-11 and 28 more; each in full: cnpa-op explain "
      "clash-1";
  const std::string waits =
      ". 5 more team spaces NamespaceTerminating: old-1, old-2, old-3 and 2 more; each in full: cnpa-op explain old-1";
  CHECK(bench.Alike() == Lines{"! TeamSpace/clash-0 NamespaceConflict: no", clashes, "! TeamSpace/lost connection lost",
                               ". TeamSpace/old-0 NamespaceTerminating: no", waits,
                               "! TeamSpace/bad InvalidQuantity: spec.cpu"});
  CHECK(bench.Each().size() == 40);
}

TEST_CASE("Complaints says once what hits all alike, and counts what is too much", "[app][complaints]") {
  Bench bench;
  bench.RefuseMany(7, Reason::kForbidden, "any");
  for (int i = 0; i < 30; ++i) bench.Fail(fmt::format("t{}", i));
  const Lines lines = bench.Alike();
  REQUIRE(lines.size() == 21);
  CHECK(lines.front() == "! TeamSpace/any-0 Forbidden: no");
  CHECK(lines.back() == "! and 11 more like these");
  CHECK(bench.Each().size() == 31);
}

}  // namespace
}  // namespace cnpa
