// SPDX-License-Identifier: Apache-2.0
#include "app/metrics/metrics_file.h"

#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "app/metrics/metrics_text.h"
#include "base/version.h"
#include "support/catch.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

const FinishedPass kPass{.end = PassEnd::kConverged, .took = std::chrono::milliseconds(7)};

std::string TextAfter(int passes) {
  Metrics metrics;
  for (int i = 0; i < passes; ++i) metrics.Add(kPass);
  return RenderMetrics(metrics, kVersion);
}

TEST_CASE("MetricsFile::Add goes on from what the file has", "[app][metrics_file]") {
  const TempFolder folder;
  const std::string path = folder.Path("cnpa-op.prom");
  CHECK(MetricsFile(path).Add(kPass));
  CHECK(folder.Read("cnpa-op.prom") == TextAfter(1));
  CHECK(MetricsFile(path).Add(kPass));
  CHECK(folder.Read("cnpa-op.prom") == TextAfter(2));
  MetricsFile file(path);
  CHECK(file.Add(kPass));
  folder.Write("cnpa-op.prom", "it is read once only");
  CHECK(file.Add(kPass));
  CHECK(folder.Read("cnpa-op.prom") == TextAfter(4));
  CHECK(folder.Names().size() == 1);
}

TEST_CASE("MetricsFile::Add makes a file that everybody can read, whatever the umask", "[app][metrics_file]") {
  const TempFolder folder;
  const mode_t mask = ::umask(0077);
  CHECK(MetricsFile(folder.Path("cnpa-op.prom")).Add(kPass));
  ::umask(mask);
  struct stat facts {};
  REQUIRE(::stat(folder.Path("cnpa-op.prom").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777U) == 0644);
}

TEST_CASE("MetricsFile::Add writes nothing without a path", "[app][metrics_file]") {
  CHECK(MetricsFile("").Add(kPass));
}

TEST_CASE("MetricsFile::Add starts a file of ours anew that it can't understand, and says so", "[app][metrics_file]") {
  const TempFolder folder;
  const std::string path = folder.Write("cnpa-op.prom", "# HELP cnpa_op_passes_total Passes.\n");
  MetricsFile file(path);
  CHECK(ErrorOf(file.Add(kPass)) ==
        Error{ErrorCode::kMalformed, "'" + path + "' is not what cnpa-op writes: started anew"});
  CHECK(folder.Read("cnpa-op.prom") == TextAfter(1));
  CHECK(file.Add(kPass));
  CHECK(folder.Read("cnpa-op.prom") == TextAfter(2));
}

TEST_CASE("MetricsFile::Add takes an empty file for none", "[app][metrics_file]") {
  const TempFolder folder;
  CHECK(MetricsFile(folder.Write("cnpa-op.prom", "")).Add(kPass));
  CHECK(folder.Read("cnpa-op.prom") == TextAfter(1));
}

TEST_CASE("MetricsFile::Add leaves alone what is not ours", "[app][metrics_file]") {
  const TempFolder folder;
  const std::string foreign = folder.Write("config", "apiVersion: v1\n");
  const std::string large = folder.Write("large", std::string(kMetricsMark) + std::string(1U << 20U, 'x'));
  const std::string link = folder.Path("link");
  REQUIRE(::symlink("config", link.c_str()) == 0);
  const std::string pipe = folder.Path("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string none = "no metrics are written: ";
  const auto failure = [](const std::string& path) { return ErrorOf(MetricsFile(path).Add(kPass)); };
  CHECK(failure(foreign) ==
        Error{ErrorCode::kInvalid, none + "'" + foreign + "' is there and was not written by cnpa-op"});
  CHECK(failure(large) == Error{ErrorCode::kInvalid, none + "cannot read '" + large + "': larger than 1048576 bytes"});
  CHECK(failure(link) ==
        Error{ErrorCode::kInvalid, none + "cannot read '" + link + "': too many levels of symbolic links"});
  CHECK(failure(pipe) == Error{ErrorCode::kInvalid, none + "'" + pipe + "' is not a file"});
  CHECK(failure(folder.path()) == Error{ErrorCode::kInvalid, none + "'" + folder.path() + "' is not a file"});
  CHECK(failure("/dev/null") == Error{ErrorCode::kInvalid, none + "'/dev/null' is not a file"});
  CHECK(folder.Read("config") == "apiVersion: v1\n");
  CHECK(folder.Names().size() == 4);
}

TEST_CASE("MetricsFile::Add keeps the numbers until they can be written", "[app][metrics_file]") {
  const TempFolder folder;
  const std::string path = folder.Path("later/cnpa-op.prom");
  MetricsFile file(path);
  for (int i = 0; i < 2; ++i) {
    CHECK(ErrorOf(file.Add(kPass)) ==
          Error{ErrorCode::kInvalid, "cannot write '" + path + "': no such file or directory"});
  }
  folder.Write("later/other", "");
  CHECK(file.Add(kPass));
  CHECK(folder.Read("later/cnpa-op.prom") == TextAfter(3));
}

}  // namespace
}  // namespace cnpa
