// SPDX-License-Identifier: Apache-2.0
#include "app/metrics/metrics.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "app/metrics/metrics_catalog.h"
#include "app/metrics/metrics_text.h"
#include "base/file.h"
#include "support/catch.h"
#include "support/random.h"
#include "support/testdata.h"
#include "support/text.h"

namespace cnpa {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

const Time kThen{1700000000s};
const Error kNotOurs{ErrorCode::kMalformed, "not what cnpa-op writes"};

/// Returns a pass over two team spaces, one of them refused, that has read the cluster.
FinishedPass PassThatRead(PassEnd end) {
  FinishedPass pass{.end = end, .took = 41ms, .ended_at = kThen, .numbers = {.read = true}};
  pass.numbers.requests[RequestIndex("list", 200)] = 3;
  pass.numbers.writes[WriteIndex({CreateQuota{}, Cause::kMissing, {}})] = 1;
  pass.numbers.contested = {2};
  pass.numbers.spaces[SpaceIndex(SpaceState::kInSync, Reason::kReconciled)] = 1;
  pass.numbers.spaces[SpaceIndex(SpaceState::kRefused, Reason::kNamespaceConflict)] = 1;
  return pass;
}

Metrics MetricsOf(const std::vector<FinishedPass>& passes) {
  Metrics metrics;
  for (const FinishedPass& pass : passes) metrics.Add(pass);
  return metrics;
}

/// Returns the samples that begin with `name`.
Lines SamplesOf(const Metrics& metrics, std::string_view name) {
  Lines samples;
  for (const std::string& line : LinesOf(RenderMetrics(metrics, "1"))) {
    if (line.starts_with(name)) samples.push_back(line);
  }
  return samples;
}

bool HasLine(const Metrics& metrics, const std::string& line) {
  const Lines lines = LinesOf(RenderMetrics(metrics, "1"));
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

TEST_CASE("Metrics count contested repairs", "[app][metrics]") {
  CHECK(HasLine({}, "cnpa_op_contested_repairs_total 0"));
  const FinishedPass pass = PassThatRead(PassEnd::kUnconverged);
  CHECK(HasLine(MetricsOf({pass, pass}), "cnpa_op_contested_repairs_total 4"));
}

TEST_CASE("PassEndOf tells passes apart by their exit codes", "[app][metrics]") {
  CHECK(PassEndOf(ExitCode::kConverged) == PassEnd::kConverged);
  CHECK(PassEndOf(ExitCode::kUnconverged) == PassEnd::kUnconverged);
  CHECK(PassEndOf(ExitCode::kUsage) == PassEnd::kUsage);
  CHECK(PassEndOf(ExitCode::kUnreadable) == PassEnd::kUnreadable);
  CHECK(PassEndOf(ExitCode::kInterrupted) == PassEnd::kStopped);
  CHECK(PassEndOf(ExitCode::kTerminated) == PassEnd::kStopped);
}

TEST_CASE("RenderMetrics has a help, a type and a 0 to rise from for each metric", "[app][metrics]") {
  CHECK(SamplesOf({}, "cnpa_op_passes_total") ==
        Lines{R"(cnpa_op_passes_total{result="converged"} 0)", R"(cnpa_op_passes_total{result="unconverged"} 0)",
              R"(cnpa_op_passes_total{result="usage"} 0)", R"(cnpa_op_passes_total{result="unreadable"} 0)",
              R"(cnpa_op_passes_total{result="stopped"} 0)", R"(cnpa_op_passes_total{result="crashed"} 0)",
              R"(cnpa_op_passes_total{result="overdue"} 0)"});
  CHECK(SamplesOf({}, "cnpa_op_writes_total") ==
        Lines{R"(cnpa_op_writes_total{kind="TeamSpace",reason="Missing"} 0)",
              R"(cnpa_op_writes_total{kind="TeamSpace",reason="StatusBehind"} 0)",
              R"(cnpa_op_writes_total{kind="TeamSpace",reason="BeingDeleted"} 0)",
              R"(cnpa_op_writes_total{kind="Namespace",reason="Missing"} 0)",
              R"(cnpa_op_writes_total{kind="Namespace",reason="Differs"} 0)",
              R"(cnpa_op_writes_total{kind="ResourceQuota",reason="Missing"} 0)",
              R"(cnpa_op_writes_total{kind="ResourceQuota",reason="Differs"} 0)",
              R"(cnpa_op_writes_total{kind="ResourceQuota",reason="Scoped"} 0)",
              R"(cnpa_op_writes_total{kind="Archive",reason="BeingDeleted"} 0)"});
  CHECK(SamplesOf({}, "cnpa_op_team_spaces") ==
        Lines{R"(cnpa_op_team_spaces{state="in_sync",reason=""} 0)",
              R"(cnpa_op_team_spaces{state="refused",reason="NamespaceConflict"} 0)",
              R"(cnpa_op_team_spaces{state="refused",reason="InvalidName"} 0)",
              R"(cnpa_op_team_spaces{state="refused",reason="InvalidQuantity"} 0)",
              R"(cnpa_op_team_spaces{state="refused",reason="QuotaRefused"} 0)",
              R"(cnpa_op_team_spaces{state="refused",reason="Forbidden"} 0)",
              R"(cnpa_op_team_spaces{state="refused",reason="ArchiveFailed"} 0)",
              R"(cnpa_op_team_spaces{state="refused",reason="WriteFailed"} 0)",
              R"(cnpa_op_team_spaces{state="refused",reason="CrdDeleting"} 0)",
              R"(cnpa_op_team_spaces{state="refused",reason="CrdUnfit"} 0)",
              R"(cnpa_op_team_spaces{state="waiting",reason="NamespaceTerminating"} 0)",
              R"(cnpa_op_team_spaces{state="failed",reason=""} 0)",
              R"(cnpa_op_team_spaces{state="left",reason=""} 0)"});
  CHECK(SamplesOf({}, "cnpa_op_requests_total").empty());
  CHECK(
      RenderMetrics({}, "1").ends_with("# HELP cnpa_op_build_info 1, with the version that wrote this as a label.\n"
                                       "# TYPE cnpa_op_build_info gauge\n"
                                       "cnpa_op_build_info{version=\"1\"} 1\n"));
}

TEST_CASE("Metrics::Add counts what a pass did", "[app][metrics]") {
  const Metrics metrics =
      MetricsOf({PassThatRead(PassEnd::kUnconverged), PassThatRead(PassEnd::kUnconverged), {.took = 3h}});
  for (const char* line :
       {R"(cnpa_op_passes_total{result="unconverged"} 2)", R"(cnpa_op_passes_total{result="crashed"} 1)",
        R"(cnpa_op_requests_total{verb="list",code="200"} 6)",
        R"(cnpa_op_writes_total{kind="ResourceQuota",reason="Missing"} 2)",
        R"(cnpa_op_team_spaces{state="in_sync",reason=""} 1)",
        R"(cnpa_op_team_spaces{state="refused",reason="NamespaceConflict"} 1)",
        R"(cnpa_op_pass_duration_seconds_bucket{le="0.025"} 0)", R"(cnpa_op_pass_duration_seconds_bucket{le="0.05"} 2)",
        R"(cnpa_op_pass_duration_seconds_bucket{le="120"} 2)", R"(cnpa_op_pass_duration_seconds_bucket{le="+Inf"} 3)",
        "cnpa_op_pass_duration_seconds_sum 10800.082000", "cnpa_op_pass_duration_seconds_count 3"}) {
    CAPTURE(line);
    CHECK(HasLine(metrics, line));
  }
}

TEST_CASE("Metrics::Add puts a duration that is a limit below it", "[app][metrics]") {
  for (const Bucket& bucket : kBuckets) {
    const std::string sample = R"(cnpa_op_pass_duration_seconds_bucket{le=")" + std::string(bucket.seconds) + R"("} )";
    CHECK(HasLine(MetricsOf({{.took = bucket.most}}), sample + "1"));
    CHECK(HasLine(MetricsOf({{.took = bucket.most + 1us}}), sample + "0"));
    CHECK(std::chrono::duration<double>(bucket.most).count() == std::stod(std::string(bucket.seconds)));
  }
}

TEST_CASE("Metrics::Add keeps what a pass that read nothing does not know", "[app][metrics]") {
  Metrics metrics = MetricsOf({PassThatRead(PassEnd::kConverged)});
  const auto spaces = metrics.spaces;
  metrics.Add({.end = PassEnd::kUnreadable, .ended_at = kThen + 60s});
  CHECK(metrics.spaces == spaces);
  CHECK(HasLine(metrics, "cnpa_op_last_success_timestamp_seconds 1700000000"));
  CHECK(HasLine(metrics, "cnpa_op_last_pass_timestamp_seconds 1700000060"));
}

TEST_CASE("Metrics::Add calls a pass a success that read the cluster and left nothing", "[app][metrics]") {
  struct Case {
    std::string name;
    FinishedPass pass;
    bool success;
  };
  FinishedPass left = PassThatRead(PassEnd::kUnconverged);
  left.numbers.spaces[SpaceIndex(SpaceState::kLeft, Reason::kReconciled)] = 1;
  const std::vector<Case> cases{
      {"converged", PassThatRead(PassEnd::kConverged), true},
      {"a refused team space is the team's to mend", PassThatRead(PassEnd::kUnconverged), true},
      {"something was left", left, false},
      {"stopped", PassThatRead(PassEnd::kStopped), false},
      {"an unknown name for --only", {.end = PassEnd::kUnconverged, .ended_at = kThen}, false},
      {"unreadable", {.end = PassEnd::kUnreadable, .ended_at = kThen}, false},
      {"crashed", {.end = PassEnd::kCrashed, .ended_at = kThen}, false},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK((MetricsOf({c.pass}).last_success == kThen) == c.success);
    }
  }
}

Metrics RandomMetrics(Random& random) {
  Metrics metrics;
  const auto fill = [&random](auto& numbers) {
    for (std::uint64_t& number : numbers) {
      if (random.OneIn(3)) number = random.OneIn(10) ? random.Below(UINT32_MAX) << 29U : random.Below(1000);
    }
  };
  fill(metrics.passes);
  for (std::uint64_t& number : metrics.durations) number = random.Below(UINT32_MAX);
  fill(metrics.requests);
  fill(metrics.writes);
  fill(metrics.spaces);
  metrics.duration_sum = std::chrono::microseconds(random.Below(UINT32_MAX) * random.Below(100000));
  metrics.last_pass = Time(std::chrono::seconds(random.Below(UINT32_MAX)));
  metrics.last_success = Time(std::chrono::seconds(random.Below(UINT32_MAX)));
  return metrics;
}

TEST_CASE("ParseMetrics reads what RenderMetrics writes", "[app][metrics]") {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const Metrics metrics = i == 0 ? Metrics() : RandomMetrics(random);
    const std::string text = RenderMetrics(metrics, i % 2 == 0 ? "0.1.0" : "a \"b\"\\\n");
    const Result<Metrics> parsed = ParseMetrics(text);
    REQUIRE(parsed);
    CHECK(*parsed == metrics);
  }
}

TEST_CASE("ParseMetrics refuses a part of what RenderMetrics writes", "[app][metrics]") {
  const std::string whole = RenderMetrics(MetricsOf({PassThatRead(PassEnd::kConverged)}), "1");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(ErrorOf(ParseMetrics(whole.substr(0, size))) == kNotOurs);
  }
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("ParseMetrics refuses what RenderMetrics does not write", "[app][metrics]") {
  struct Case {
    std::string name;
    std::string from;
    std::string to;
  };
  const std::string converged = R"(cnpa_op_passes_total{result="converged"} 1)";
  const std::vector<Case> cases{
      {"an unknown metric", converged, "up 1"},
      {"an unknown label", "converged", "perfect"},
      {"a sample twice", converged, converged + "\n" + converged},
      {"no value", converged, R"(cnpa_op_passes_total{result="converged"})"},
      {"a negative number", converged + "\n",
       R"(cnpa_op_passes_total{result="converged"} -1)"
       "\n"},
      {"a fraction", converged + "\n",
       R"(cnpa_op_passes_total{result="converged"} 1.5)"
       "\n"},
      {"a number that is too large", converged, converged + "99999999999999999999"},
      {"buckets that fall", R"(le="120"} 1)", R"(le="120"} 0)"},
      {"another count", "seconds_count 1", "seconds_count 2"},
      {"a sum in another form", "0.041000", "0.041"},
      {"no sum", "cnpa_op_pass_duration_seconds_sum 0.041000\n", ""},
      {"no time", "cnpa_op_last_pass_timestamp_seconds 1700000000\n", ""},
      {"another beginning", "# HELP cnpa_op_", "# HELP node_"},
      {"an empty line", "\n# TYPE", "\n\n# TYPE"},
  };
  const std::string whole = RenderMetrics(MetricsOf({PassThatRead(PassEnd::kConverged)}), "1");
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ErrorOf(ParseMetrics(Replaced(whole, c.from, c.to))) == kNotOurs);
    }
  }
}

TEST_CASE("ParseMetrics takes the files of other versions: fewer samples, other words", "[app][metrics]") {
  std::string text = RenderMetrics(MetricsOf({PassThatRead(PassEnd::kConverged)}), "1");
  text = Replaced(text, "cnpa_op_passes_total{result=\"overdue\"} 0\n", "");
  text = Replaced(text, "Passes by how they ended.", "Passes.");
  const Result<Metrics> parsed = ParseMetrics(text);
  REQUIRE(parsed);
  CHECK(*parsed == MetricsOf({PassThatRead(PassEnd::kConverged)}));
}

TEST_CASE("RenderMetrics stays far below what is read back, whatever is counted", "[app][metrics]") {
  Metrics metrics;
  for (auto* numbers : {&metrics.requests}) numbers->fill(UINT64_MAX);
  metrics.writes.fill(UINT64_MAX);
  metrics.spaces.fill(UINT64_MAX);
  CHECK(RenderMetrics(metrics, "1").size() < 32768);
}

TEST_CASE("EscapeLabelValue escapes what would end a label", "[app][metrics]") {
  CHECK(EscapeLabelValue("a\\b\"c\nd e=\xc3\xbc,}") == "a\\\\b\\\"c\\nd e=\xc3\xbc,}");
}

/// Returns the names behind "# TYPE ".
std::set<std::string> MetricNames() {
  std::set<std::string> names;
  for (const std::string& line : SamplesOf({}, "# TYPE ")) names.insert(line.substr(7, line.find(' ', 7) - 7));
  return names;
}

TEST_CASE("docs/metrics.md has a row for each metric, and for no other", "[app][metrics]") {
  const std::string page = ReadFile(TestdataFolder() + "/../../../docs/metrics.md").value();
  std::set<std::string> documented;
  for (const std::string& line : LinesOf(page)) {
    if (line.starts_with("| `cnpa_op_")) documented.insert(line.substr(3, line.find('`', 3) - 3));
  }
  CHECK(documented == MetricNames());
  // Every word that a label can have.
  for (const std::string& line : LinesOf(RenderMetrics({}, "1"))) {
    if (line.starts_with("cnpa_op_pass_duration") || line.starts_with('#') || line.find('{') == std::string::npos)
      continue;
    for (std::size_t at = line.find('"'); at != std::string::npos; at = line.find('"', line.find('"', at + 1) + 1)) {
      const std::string value = line.substr(at + 1, line.find('"', at + 1) - at - 1);
      CAPTURE(line, value);
      if (value != "1") CHECK(Contains(page, "`" + value + "`"));
    }
  }
}

}  // namespace
}  // namespace cnpa
