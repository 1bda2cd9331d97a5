// SPDX-License-Identifier: Apache-2.0
#include "app/options.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/capture.h"
#include "support/catch.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

using Variables = std::map<std::string, std::string>;
using std::chrono::milliseconds;

Environment EnvironmentOf(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second.empty()) return std::nullopt;
    return found->second;
  };
}

struct Parsed {
  Options options;
  std::optional<ExitCode> exit_code;
  std::string out;
  std::string err;
};

Parsed Parse(std::vector<std::string> arguments, Variables variables = {}) {
  // No test depends on what this machine has in /etc.
  static const TempFolder kFolder;
  variables.emplace("CNPA_OP_CONFIG", kFolder.Write("empty.yaml", ""));
  arguments.insert(arguments.begin(), "cnpa-op");
  std::vector<const char*> argv;
  argv.reserve(arguments.size());
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  CapturedStream out(stdout);
  CapturedStream err(stderr);
  CommandLine line = ParseCommandLine(static_cast<int>(argv.size()), argv.data(), EnvironmentOf(variables));
  Parsed parsed{.options = std::move(line.options), .exit_code = line.exit_code, .out = {}, .err = err.Text()};
  parsed.out = out.Text();
  return parsed;
}

Options Accepted(const std::vector<std::string>& arguments, const Variables& variables = {}) {
  const Parsed parsed = Parse(arguments, variables);
  CAPTURE(parsed.err);
  REQUIRE_FALSE(parsed.exit_code);
  CHECK(parsed.out.empty());
  CHECK(parsed.err.empty());
  return parsed.options;
}

TEST_CASE("ParseCommandLine has the documented defaults", "[app][options]") {
  const Options options = Accepted({"reconcile", "--once"}, {{"HOME", "/h"}, {"STATE_DIRECTORY", "/s"}});
  CHECK(options.command == Command::kReconcile);
  CHECK(options.once);
  CHECK_FALSE(options.diff);
  CHECK(options.kubeconfig.empty());
  CHECK(options.context.empty());
  CHECK(options.archive == "/s/archive");
  CHECK(options.archive_is_default);
  CHECK(options.timeout == milliseconds(60000));
  CHECK(options.request_timeout == milliseconds(15000));
  CHECK(options.concurrency == 32);
  CHECK_FALSE(options.allow_crd_deletion);
  CHECK(options.only.empty());
  CHECK(options.log_level == LogLevel::kInfo);
  CHECK(options.log_format == LogFormat::kAuto);
  CHECK(options.color == ColorMode::kAuto);
}

TEST_CASE("ParseCommandLine reads every flag of reconcile", "[app][options]") {
  const Options options = Accepted({"reconcile",
                                    "--once",
                                    "--diff",
                                    "--kubeconfig",
                                    "/k",
                                    "--context",
                                    "c",
                                    "--archive=/a",
                                    "--timeout",
                                    "1m30s",
                                    "--request-timeout",
                                    "2s",
                                    "--concurrency",
                                    "3",
                                    "--allow-crd-deletion",
                                    "--only",
                                    "red",
                                    "--only",
                                    "blue",
                                    "--log-level",
                                    "error",
                                    "--log-format",
                                    "json",
                                    "--color",
                                    "never"});
  CHECK(options.diff);
  CHECK(options.kubeconfig == "/k");
  CHECK(options.context == "c");
  CHECK(options.archive == "/a");
  CHECK_FALSE(options.archive_is_default);
  CHECK(Accepted({"check", "--archive", "/a/b//"}).archive == "/a/b");
  CHECK(Accepted({"check", "--archive", "/"}).archive == "/");
  CHECK(options.timeout == milliseconds(90000));
  CHECK(options.request_timeout == milliseconds(2000));
  CHECK(options.concurrency == 3);
  CHECK(options.allow_crd_deletion);
  CHECK(options.only == std::vector<std::string>{"red", "blue"});
  CHECK(options.log_level == LogLevel::kError);
  CHECK(options.log_format == LogFormat::kJson);
  CHECK(options.color == ColorMode::kNever);
}

TEST_CASE("ParseCommandLine: flag beats environment beats file beats default", "[app][options]") {
  const TempFolder folder;
  const std::string file = folder.Write("config.yaml", "timeout: 10s\nonly: [f]\ncontext: from-file\n");
  const auto timeout = [&](const std::vector<std::string>& flags, const Variables& variables) {
    std::vector<std::string> arguments{"reconcile", "--once"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return Accepted(arguments, variables);
  };
  const Variables variables{{"CNPA_OP_CONFIG", file}, {"CNPA_OP_TIMEOUT", "20s"}};
  CHECK(timeout({"--timeout", "30s"}, variables).timeout == milliseconds(30000));
  CHECK(timeout({}, variables).timeout == milliseconds(20000));
  CHECK(timeout({}, {{"CNPA_OP_CONFIG", file}}).timeout == milliseconds(10000));
  CHECK(timeout({"--config", file}, {}).timeout == milliseconds(10000));
  CHECK(timeout({}, {}).timeout == milliseconds(60000));
  CHECK(timeout({}, variables).context == "from-file");
  // Lists do not add up: the nearest place says all of it.
  CHECK(timeout({"--only", "a"}, variables).only == std::vector<std::string>{"a"});
  CHECK(timeout({}, {{"CNPA_OP_CONFIG", file}, {"CNPA_OP_ONLY", "b,c"}}).only == std::vector<std::string>{"b", "c"});
  CHECK(timeout({}, variables).only == std::vector<std::string>{"f"});
}

TEST_CASE("ParseCommandLine: --config beats $CNPA_OP_CONFIG", "[app][options]") {
  const TempFolder folder;
  const std::string one = folder.Write("one.yaml", "timeout: 1s\n");
  const std::string two = folder.Write("two.yaml", "timeout: 2s\n");
  CHECK(Accepted({"reconcile", "--once", "--config", one}, {{"CNPA_OP_CONFIG", two}}).timeout == milliseconds(1000));
}

TEST_CASE("ParseCommandLine takes for explain the name of one team space", "[app][options]") {
  const Options options = Accepted({"explain", "red", "--archive", "/a", "-o", "yaml"});
  CHECK(options.command == Command::kExplain);
  CHECK(options.names == std::vector<std::string>{"red"});
  CHECK(options.archive == "/a");
  CHECK(options.output == OutputFormat::kYaml);
  for (const Parsed& wrong : {Parse({"explain"}), Parse({"explain", "red", "blue"})}) {
    CHECK(wrong.exit_code == ExitCode::kUsage);
    CHECK(wrong.err == "cnpa-op: explain takes the name of one team space: cnpa-op explain NAME\n");
  }
}

TEST_CASE("ParseCommandLine takes the last of a flag that stands twice", "[app][options]") {
  CHECK(Accepted({"reconcile", "--once", "--timeout", "1s", "--timeout", "2s"}).timeout == milliseconds(2000));
}

TEST_CASE("ParseCommandLine takes switches from variables and the file as true and false", "[app][options]") {
  const TempFolder folder;
  const std::string file = folder.Write("config.yaml", "allow-crd-deletion: true\n");
  CHECK(Accepted({"reconcile", "--once"}, {{"CNPA_OP_ALLOW_CRD_DELETION", "true"}}).allow_crd_deletion);
  CHECK(Accepted({"reconcile", "--once", "--config", file}).allow_crd_deletion);
  CHECK_FALSE(Accepted({"reconcile", "--once", "--config", file}, {{"CNPA_OP_ALLOW_CRD_DELETION", "false"}})
                  .allow_crd_deletion);
}

TEST_CASE("ParseCommandLine: -v is the same as --log-level debug", "[app][options]") {
  CHECK(Accepted({"reconcile", "--once", "-v"}).log_level == LogLevel::kDebug);
  CHECK(Accepted({"reconcile", "--once", "-v", "--log-level", "error"}).log_level == LogLevel::kDebug);
}

TEST_CASE("ParseCommandLine reads what check takes, and its configuration", "[app][options]") {
  const TempFolder folder;
  const Variables variables{{"CNPA_OP_CONFIG", folder.Write("config.yaml", "archive: /from-file\n")},
                            {"CNPA_OP_CONTEXT", "from-variable"}};
  const Options options =
      Accepted({"check", "--kubeconfig", "/k", "--request-timeout", "2s", "-o", "json", "--color=always"}, variables);
  CHECK(options.command == Command::kCheck);
  CHECK(options.kubeconfig == "/k");
  CHECK(options.context == "from-variable");
  CHECK(options.archive == "/from-file");
  CHECK(options.request_timeout == milliseconds(2000));
  CHECK(options.timeout == milliseconds(60000));
  CHECK(options.output == OutputFormat::kJson);
  CHECK(options.color == ColorMode::kAlways);
}

TEST_CASE("ParseCommandLine reads what rbac and version take", "[app][options]") {
  const Options rbac = Accepted({"rbac"});
  CHECK(rbac.command == Command::kRbac);
  CHECK(rbac.rbac_user == "cnpa-op");
  CHECK(rbac.rbac_service_account.empty());
  const Options other = Accepted({"rbac", "--serviceaccount", "ns:name", "--openshift"});
  CHECK(other.rbac_service_account == "ns:name");
  CHECK(other.openshift);
  CHECK(Accepted({"rbac", "--user", "me"}).rbac_user == "me");
  CHECK(Accepted({"crd"}).command == Command::kCrd);
  CHECK(Accepted({"version", "-o", "json"}).output == OutputFormat::kJson);
  CHECK(Accepted({"version"}).output == OutputFormat::kText);
}

TEST_CASE("ParseCommandLine refuses wrong values with their place and what would be right, exit 2", "[app][options]") {
  const TempFolder folder;
  const auto file = [&folder](const std::string& text) { return folder.Write("config.yaml", text); };
  const std::string path = folder.Path("config.yaml");
  struct Case {
    std::string name;
    std::vector<std::string> arguments;
    Variables variables;
    std::string want;
  };
  const std::vector<Case> cases{
      {"duration of a flag",
       {"--timeout", "fast"},
       {},
       "--timeout: 'fast' is not a duration such as 500ms, 3s or 1m30s"},
      {"duration too short", {"--request-timeout", "10ms"}, {}, "--request-timeout: '10ms' is shorter than 1s"},
      {"duration of a variable",
       {},
       {{"CNPA_OP_TIMEOUT", "3"}},
       "CNPA_OP_TIMEOUT: '3' is not a duration such as 500ms, 3s or 1m30s"},
      {"number", {"--concurrency", "0"}, {}, "--concurrency: '0' is not a number from 1 to 256"},
      {"number too large", {"--concurrency", "257"}, {}, "--concurrency: '257' is not a number from 1 to 256"},
      {"number with a tail", {"--concurrency", "8x"}, {}, "--concurrency: '8x' is not a number from 1 to 256"},
      {"word", {"--log-level", "loud"}, {}, "--log-level: 'loud' is none of error, warn, info, debug"},
      {"word of a variable", {}, {{"CNPA_OP_COLOR", "red"}}, "CNPA_OP_COLOR: 'red' is none of auto, always, never"},
      {"switch of a variable",
       {},
       {{"CNPA_OP_ALLOW_CRD_DELETION", "yes"}},
       "CNPA_OP_ALLOW_CRD_DELETION: 'yes' is neither true nor false"},
      {"empty text", {"--archive", ""}, {}, "--archive: must not be empty"},
      {"empty name in a list", {}, {{"CNPA_OP_ONLY", "a,,b"}}, "CNPA_OP_ONLY: must not be empty"},
      {"value in the file",
       {},
       {{"CNPA_OP_CONFIG", "concurrency: many"}},
       path + ":1: concurrency: 'many' is not a number from 1 to 256"},
      {"list in the file for one value", {}, {{"CNPA_OP_CONFIG", "a: b"}}, path + ":1: unknown key 'a'"},
      {"unknown key with a near one",
       {},
       {{"CNPA_OP_CONFIG", "\ntimeuot: 3s"}},
       path + ":2: unknown key 'timeuot': did you mean 'timeout'?"},
      {"a list where one value is wanted",
       {},
       {{"CNPA_OP_CONFIG", "timeout: [1s, 2s]"}},
       path + ":1: timeout: takes one value, not a list"},
      {"a key that is for the command line only",
       {},
       {{"CNPA_OP_CONFIG", "once: true"}},
       path + ":1: unknown key 'once'"},
      {"a file that is not there",
       {"--config", folder.Path("none")},
       {},
       "cannot read '" + folder.Path("none") + "': no such file or directory"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      std::vector<std::string> arguments{"reconcile", "--once"};
      arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
      Variables variables = c.variables;
      if (variables.contains("CNPA_OP_CONFIG")) variables["CNPA_OP_CONFIG"] = file(variables["CNPA_OP_CONFIG"]);
      const Parsed parsed = Parse(arguments, variables);
      CHECK(parsed.exit_code == ExitCode::kUsage);
      CHECK(parsed.err == "cnpa-op: " + c.want + "\n");
      CHECK(parsed.out.empty());
    }
  }
}

TEST_CASE("ParseCommandLine answers a wrong word with one line and a near match, exit 2", "[app][options]") {
  struct Case {
    std::vector<std::string> arguments;
    std::string want;
  };
  const std::vector<Case> cases{
      {{"reconsile"}, "unknown command 'reconsile': did you mean 'reconcile'?"},
      {{"chek"}, "unknown command 'chek': did you mean 'check'?"},
      {{"check", "--once"}, "unknown flag '--once': see cnpa-op check --help"},
      {{"check", "--kubeconfg=x"}, "unknown flag '--kubeconfg=x': did you mean '--kubeconfig'?"},
      {{"frobnicate"}, "unknown command 'frobnicate': see cnpa-op --help"},
      {{"reconcile", "--onec"}, "unknown flag '--onec': did you mean '--once'?"},
      {{"reconcile", "--timout=3s"}, "unknown flag '--timout=3s': did you mean '--timeout'?"},
      {{"reconcile", "--frobnicate"}, "unknown flag '--frobnicate': see cnpa-op reconcile --help"},
      {{"reconcile", "--once", "red"}, "unknown argument 'red': see cnpa-op reconcile --help"},
      {{"crd", "--once"}, "unknown flag '--once': see cnpa-op crd --help"},
      {{"rbac", "--serviceaccount", "name"}, "--serviceaccount: 'name' is not of the form NAMESPACE:NAME"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.want) {
      const Parsed parsed = Parse(c.arguments);
      CHECK(parsed.exit_code == ExitCode::kUsage);
      CHECK(parsed.err == "cnpa-op: " + c.want + "\n");
      CHECK(parsed.out.empty());
    }
  }
}

TEST_CASE("ParseCommandLine answers a flag without its value with one line, exit 2", "[app][options]") {
  const Parsed parsed = Parse({"reconcile", "--once", "--timeout"});
  CHECK(parsed.exit_code == ExitCode::kUsage);
  CHECK(LinesOf(parsed.err).size() == 1);
  CHECK(Contains(parsed.err, "--timeout"));
}

TEST_CASE("ParseCommandLine prints help to stdout, exit 0", "[app][options]") {
  const Parsed none = Parse({});
  CHECK(none.exit_code == ExitCode::kConverged);
  CHECK(Contains(none.out, "cnpa-op reconcile --diff"));
  CHECK(none.err.empty());
  const Parsed help = Parse({"--help"});
  CHECK(help.out == none.out);
  const Parsed reconcile = Parse({"reconcile", "--help"});
  CHECK(reconcile.exit_code == ExitCode::kConverged);
  for (const std::string text : {"--once", "--allow-crd-deletion", "Exit codes:", "CNPA_OP_"}) {
    CAPTURE(text);
    CHECK(Contains(reconcile.out, text));
  }
  const Parsed check = Parse({"check", "--help"});
  CHECK(check.exit_code == ExitCode::kConverged);
  for (const std::string text : {"--archive", "--output", "--config", "Exit codes:", "FAIL"}) {
    CAPTURE(text);
    CHECK(Contains(check.out, text));
  }
  CHECK_FALSE(Contains(check.out, "--once"));
}

TEST_CASE("ParseCommandLine does not read the configuration for what needs none", "[app][options]") {
  const TempFolder folder;
  const Variables broken{{"CNPA_OP_CONFIG", folder.Write("broken.yaml", "a: [")}, {"CNPA_OP_LOG_LEVEL", "loud"}};
  CHECK(Accepted({"version"}, broken).command == Command::kVersion);
  CHECK(Parse({"reconcile", "--once"}, broken).exit_code == ExitCode::kUsage);
}

TEST_CASE("DefaultArchive follows systemd, then the user's state, and is none in a pod", "[app][options]") {
  struct Case {
    std::string name;
    Variables variables;
    bool is_root;
    std::string want;
  };
  const std::vector<Case> cases{
      {"systemd",
       {{"STATE_DIRECTORY", "/var/lib/private/cnpa-op"}, {"HOME", "/h"}},
       true,
       "/var/lib/private/cnpa-op/archive"},
      {"the first of systemd's list", {{"STATE_DIRECTORY", "/a:/b"}}, false, "/a/archive"},
      {"root", {{"HOME", "/root"}}, true, "/var/lib/cnpa-op/archive"},
      {"a user with XDG_STATE_HOME", {{"XDG_STATE_HOME", "/x"}, {"HOME", "/h"}}, false, "/x/cnpa-op/archive"},
      {"a user", {{"HOME", "/h"}}, false, "/h/.local/state/cnpa-op/archive"},
      {"a pod", {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"HOME", "/h"}}, true, ""},
      {"nothing", {}, false, ""},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(DefaultArchive(EnvironmentOf(c.variables), c.is_root) == c.want);
    }
  }
}

}  // namespace
}  // namespace cnpa
