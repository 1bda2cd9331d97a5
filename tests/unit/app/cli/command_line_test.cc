// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command_line.h"

#include <string>
#include <vector>

#include "app/cli/options.h"
#include "support/catch.h"
#include "support/command_line.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;

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
      {"empty list of a variable",
       {},
       {{"CNPA_OP_ONLY", ""}},
       "CNPA_OP_ONLY: must not be empty: unset it, or give it a value"},
      {"empty variable",
       {},
       {{"CNPA_OP_CONTEXT", ""}},
       "CNPA_OP_CONTEXT: must not be empty: unset it, or give it a value"},
      {"empty list in the file", {}, {{"CNPA_OP_CONFIG", "only: []"}}, path + ":1: only: an empty list"},
      {"a list of one where one value is wanted",
       {},
       {{"CNPA_OP_CONFIG", "interval: [3s]"}},
       path + ":1: interval: takes one value, not a list"},
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

TEST_CASE("ParseCommandLine warns of variables that nobody reads", "[app][options]") {
  const Parsed parsed = Parse({"reconcile", "--once"}, {{"CNPA_OP_INTERVALL", "1s"},
                                                        {"CNPA_OP_ONCE", "true"},
                                                        {"CNPA_OP_NONSENSE", ""},
                                                        {"CNPA_OP_SERVICE_HOST", "10.0.0.1"},
                                                        {"CNPA_OP_PORT_443_TCP", "tcp://10.0.0.1:443"},
                                                        {"CNPA_OP_INTERVAL", "2s"}});
  CHECK_FALSE(parsed.exit_code);
  CHECK(parsed.options.interval == milliseconds(2000));
  CHECK(parsed.err ==
        "cnpa-op: warning: ignoring CNPA_OP_INTERVALL: did you mean 'CNPA_OP_INTERVAL'?\n"
        "cnpa-op: warning: ignoring CNPA_OP_NONSENSE: no flag has this variable\n"
        "cnpa-op: warning: ignoring CNPA_OP_ONCE: --once is for the command line only\n");
  CHECK(Accepted({"version"}, {{"CNPA_OP_INTERVALL", "1s"}}).command == Command::kVersion);
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
      CHECK(DefaultArchive(EnvironmentFrom(ListOf(c.variables)), c.is_root) == c.want);
    }
  }
}

}  // namespace
}  // namespace cnpa
