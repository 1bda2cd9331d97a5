// SPDX-License-Identifier: Apache-2.0
#include "app/commands/run.h"

#include <cstdio>
#include <set>
#include <string>

#include "app/commands/manifests.h"
#include "base/environment.h"
#include "base/version.h"
#include "kube/json/json.h"
#include "support/capture.h"
#include "support/catch.h"
#include "support/child.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

struct Ran {
  ExitCode code;
  std::string out;
  std::string err;
};

/// Runs in a process of its own: a run takes over its signals.
Ran RunWith(const Options& options) {
  CapturedStream out(stdout);
  CapturedStream err(stderr);
  const auto code = static_cast<ExitCode>(ExitCodeOfChild([&options] {
    const ExitCode ended = Run(options, [] { return Fail(ErrorCode::kInvalid, "not asked for"); });
    std::fflush(nullptr);
    return static_cast<int>(ended);
  }));
  std::string said = err.Text();
  return {code, out.Text(), said};
}

TEST_CASE("Run crd, rbac and unit print what is built in", "[app][run]") {
  Options options;
  options.command = Command::kCrd;
  CHECK(RunWith(options).out == kCrdYaml);
  options.command = Command::kRbac;
  options.rbac_user = "cnpa-op";
  CHECK(RunWith(options).out == RbacManifest(options));
  CHECK(RunWith(options).code == ExitCode::kConverged);
  options.command = Command::kUnit;
  const Ran unit = RunWith(options);
  CHECK(unit.out == UnitManifest(OwnPath()));
  CHECK(unit.err ==
        (WhyUnitCannotRun(OwnPath()).empty() ? "" : "cnpa-op: warning: " + WhyUnitCannotRun(OwnPath()) + "\n"));
}

TEST_CASE("Run version prints it for people and as JSON", "[app][run]") {
  Options options;
  options.command = Command::kVersion;
  const Ran text = RunWith(options);
  CHECK(text.code == ExitCode::kConverged);
  CHECK(text.out.starts_with(std::string("cnpa-op ") + kVersion + " (libcurl "));
  options.output = OutputFormat::kJson;
  std::string json = RunWith(options).out;
  JsonDocument document;
  REQUIRE(document.Parse(json));
  CHECK(document.root().String("version") == kVersion);
}

TEST_CASE("Run reconcile --server wants --diff", "[app][run]") {
  Options options;
  options.command = Command::kReconcile;
  options.server = true;
  options.log_format = LogFormat::kText;
  for (const bool once : {false, true}) {
    options.once = once;
    const Ran ran = RunWith(options);
    CHECK(ran.code == ExitCode::kUsage);
    CHECK(ran.err == "cnpa-op: --server: it is the changes of --diff that the server is asked about: add --diff\n");
  }
}

TEST_CASE("Run reconcile --once exits 2 with one line where the kubeconfig can't be used", "[app][run]") {
  const TempFolder folder;
  Options options;
  options.command = Command::kReconcile;
  options.once = true;
  options.timeout = std::chrono::seconds(5);
  options.request_timeout = std::chrono::seconds(5);
  options.concurrency = 1;
  options.log_format = LogFormat::kText;
  options.kubeconfig = folder.Path("none");
  const Ran missing = RunWith(options);
  CHECK(missing.code == ExitCode::kUsage);
  CHECK(missing.err == "cnpa-op: kubeconfig: cannot read '" + folder.Path("none") + "': no such file or directory\n");
  CHECK(missing.out.empty());
  options.kubeconfig =
      folder.Write("config",
                   "current-context: a\nclusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                   "contexts: [{name: a, context: {cluster: a}}]\n");
  const Ran plain = RunWith(options);
  CHECK(plain.code == ExitCode::kUsage);
  CHECK(LinesOf(plain.err).size() == 1);
  CHECK(Contains(plain.err, "does not begin with https://"));
}

TEST_CASE("Run reconcile --once exits 3 with one line where nobody answers", "[app][run]") {
  const TempFolder folder;
  Options options;
  options.command = Command::kReconcile;
  options.once = true;
  options.timeout = std::chrono::seconds(1);
  options.request_timeout = std::chrono::seconds(1);
  options.concurrency = 1;
  options.log_format = LogFormat::kText;
  options.kubeconfig =
      folder.Write("config",
                   "current-context: a\nclusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\n"
                   "contexts: [{name: a, context: {cluster: a}}]\n");
  const Ran away = RunWith(options);
  CHECK(away.code == ExitCode::kUnreadable);
  CHECK(LinesOf(away.err).size() == 1);
  CHECK(away.err.starts_with("cnpa-op: "));
}

TEST_CASE("Run check exits by how far it came, and prints one document where that is wanted", "[app][run]") {
  const TempFolder folder;
  Options options;
  options.command = Command::kCheck;
  options.timeout = std::chrono::seconds(5);
  options.request_timeout = std::chrono::seconds(1);
  options.log_format = LogFormat::kText;
  options.archive = folder.Path("archive");
  options.kubeconfig = folder.Path("none");
  const Ran missing = RunWith(options);
  CHECK(missing.code == ExitCode::kUsage);
  CHECK(missing.err.empty());
  CHECK(missing.out.starts_with("FAIL  kubeconfig   cannot read '" + folder.Path("none") + "': no such file"));
  CHECK(Contains(missing.out, "\nok    archive "));
  options.kubeconfig =
      folder.Write("config",
                   "current-context: a\nclusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\n"
                   "contexts: [{name: a, context: {cluster: a}}]\n");
  options.output = OutputFormat::kJson;
  const Ran away = RunWith(options);
  CHECK(away.code == ExitCode::kUnreadable);
  std::string text = away.out;
  JsonDocument document;
  REQUIRE(document.Parse(text));
  CHECK(document.root().IntIfPresent("failed") == 1);
  CHECK(folder.Names() == std::set<std::string>{"config"});
}

}  // namespace
}  // namespace cnpa
