// SPDX-License-Identifier: Apache-2.0
//
// Each argument counts, wherever it stands, or is refused.
#include "app/cli/arguments.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/help.h"
#include "support/catch.h"
#include "support/command_line.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

TEST_CASE("ParseCommandLine answers a wrong word with one line and a near match, exit 2", "[app][options]") {
  struct Case {
    std::vector<std::string> arguments;
    std::string want;
  };
  const std::vector<Case> cases{
      {{"reconsile"}, "unknown command 'reconsile': did you mean 'reconcile'?"},
      {{"chek"}, "unknown command 'chek': did you mean 'check'?"},
      {{"check", "--once"}, "'--once' is a flag of reconcile, not of check: see cnpa-op check --help"},
      {{"check", "--kubeconfg=x"}, "unknown flag '--kubeconfg=x': did you mean '--kubeconfig'?"},
      {{"frobnicate"}, "unknown command 'frobnicate': see cnpa-op --help"},
      {{"reconcile", "--onec"}, "unknown flag '--onec': did you mean '--once'?"},
      {{"reconcile", "--timout=3s"}, "unknown flag '--timout=3s': did you mean '--timeout'?"},
      {{"reconcile", "--frobnicate"}, "unknown flag '--frobnicate': see cnpa-op reconcile --help"},
      {{"reconcile", "--once", "red"}, "unknown argument 'red': see cnpa-op reconcile --help"},
      {{"crd", "--once"}, "'--once' is a flag of reconcile, not of crd: see cnpa-op crd --help"},
      {{"crd", "--config", "x"},
       "'--config' is a flag of reconcile, get, explain, check, not of crd: see cnpa-op crd --help"},
      {{"nonsense", "reconcile", "--once"}, "unknown command 'nonsense': see cnpa-op --help"},
      {{"--nonsense", "reconcile", "--once"}, "unknown flag '--nonsense': see cnpa-op reconcile --help"},
      {{"--onec", "reconcile"}, "unknown flag '--onec': did you mean '--once'?"},
      {{"reconcile", "get"}, "unknown argument 'get': see cnpa-op reconcile --help"},
      {{"version", "get"}, "unknown argument 'get': see cnpa-op version --help"},
      {{"reconcile", "--once", "--", "--diff"}, "unknown argument '--diff': see cnpa-op reconcile --help"},
      {{"reconcile", "++", "--once"}, "unknown argument '++': see cnpa-op reconcile --help"},
      {{""}, "unknown command '': see cnpa-op --help"},
      {{"--diff"}, "no command: did you mean 'cnpa-op reconcile --diff'?"},
      {{"-v"}, "no command: see cnpa-op --help"},
      {{"get", ""}, "'' is not a name"},
      {{"get", "ts/"}, "'ts/' is not a name"},
      {{"-x"}, "unknown flag '-x': see cnpa-op --help"},
      {{"help", "recncile"}, "unknown command 'recncile': did you mean 'reconcile'?"},
      {{"help", "get", "alpha"}, "unknown argument 'alpha': see cnpa-op help --help"},
      {{"diff"}, "unknown command 'diff': did you mean 'cnpa-op reconcile --diff'?"},
      {{"status", "alpha"}, "unknown command 'status': did you mean 'cnpa-op explain'?"},
      {{"reconcile", "--dry-run"}, "unknown flag '--dry-run': did you mean '--diff'?"},
      {{"--dry-run", "reconcile", "--once"}, "unknown flag '--dry-run': did you mean '--diff'?"},
      {{"reconcile", "-w"}, "unknown flag '-w': did you mean '--watch 5m'?"},
      {{"reconcile", "--dry-run=client"}, "unknown flag '--dry-run=client': did you mean '--diff'?"},
      {{"get", "--watch"}, "unknown flag '--watch': did you mean 'watch cnpa-op get'?"},
      {{"get", "-w"}, "unknown flag '-w': did you mean 'watch cnpa-op get'?"},
      {{"rbac", "--serviceaccount", "x:y:z"}, "--serviceaccount: 'x:y:z' is not of the form NAMESPACE:NAME"},
      {{"rbac", "--serviceaccount", "x.y:z"}, "--serviceaccount: 'x.y:z' is not of the form NAMESPACE:NAME"},
      {{"rbac", "--user", "a", "--serviceaccount", "x:y"}, "--user and --serviceaccount exclude each other: keep one"},
      {{"reconcile", "--once=maybe"}, "--once: 'maybe' is neither true nor false"},
      {{"reconcile", "--config", ""}, "--config: must not be empty"},
      {{"reconcile", "--only", ""}, "--only: must not be empty"},
      {{"reconcile", "--only="}, "--only: must not be empty"},
      {{"reconcile", "--only", ","}, "--only: must not be empty"},
      {{"reconcile", "--only", "red,"}, "--only: must not be empty"},
      {{"--context=", "reconcile", "--once"}, "--context: must not be empty"},
      {{"get", "-o="}, "--output: '' is none of text, wide, json, yaml, name"},
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

TEST_CASE("ParseCommandLine answers a flag without its value with what that would be, exit 2", "[app][options]") {
  struct Case {
    std::vector<std::string> arguments;
    std::string want;
  };
  const std::vector<Case> cases{
      {{"reconcile", "--once", "--timeout"}, "--timeout needs a value: DUR"},
      {{"reconcile", "-o"}, "--output needs a value: text, json"},
      {{"get", "--output"}, "--output needs a value: text, wide, json, yaml, name"},
      {{"-vo", "--kubeconfig", "x", "get"}, "--output needs a value: text, wide, json, yaml, name"},
      // The value that was forgotten is not the next flag: this would write.
      {{"reconcile", "--once", "--archive", "--diff"}, "--archive needs a value: DIR"},
      {{"reconcile", "--once", "--archive", "--diff=true"}, "--archive needs a value: DIR"},
      {{"--context", "-v", "reconcile", "--once"}, "--context needs a value: NAME"},
      {{"get", "--context", "--", "alpha"}, "--context needs a value: NAME"},
      {{"crd", "--timeout"},
       "'--timeout' is a flag of reconcile, get, explain, check, not of crd: see cnpa-op crd --help"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.want) {
      const Parsed parsed = Parse(c.arguments);
      CHECK(parsed.exit_code == ExitCode::kUsage);
      CHECK(parsed.err == "cnpa-op: " + c.want + "\n");
    }
  }
}

/// A value that `flag` takes, in arguments of their own.
std::vector<std::string> Spelled(const Flag& flag) {
  const std::string name = "--" + std::string(flag.name);
  if (flag.kind == FlagKind::kSwitch) return {name};
  const std::vector<std::string> words = WordsOf(flag);
  const std::map<std::string_view, std::string> values{{"DUR", "7s"}, {"N", "7"}, {"NS:NAME", "ns:name"}};
  if (!words.empty()) return {name, words.back()};
  const auto value = values.find(flag.value);
  return {name, value == values.end() ? "value" : value->second};
}

/// The shortest line of a command.
std::vector<std::string> LineOf(const CommandInfo& command) {
  return command.names == NamesTaken::kOne ? std::vector<std::string>{command.name, "alpha"}
                                           : std::vector<std::string>{command.name};
}

template <typename... Parts>
std::vector<std::string> Joined(const Parts&... parts) {
  std::vector<std::string> all;
  (all.insert(all.end(), parts.begin(), parts.end()), ...);
  return all;
}

TEST_CASE("ParseCommandLine: every flag of every command counts before and after the command", "[app][options]") {
  const TempFolder folder;
  const std::string config = folder.Write("config.yaml", "context: of-the-file\n");
  for (const CommandInfo& command : Commands()) {
    const std::vector<std::string> words = LineOf(command);
    for (const Flag& flag : FlagsOf(command)) {
      CAPTURE(command.name, flag.name);
      const std::vector<std::string> flags =
          flag.name == "config" ? std::vector<std::string>{"--config", config} : Spelled(flag);
      const Parsed without = Parse(words);
      const Parsed before = Parse(Joined(flags, words));
      const Parsed after = Parse(Joined(words, flags));
      CHECK(before.err.empty());
      CHECK(before.exit_code == after.exit_code);
      CHECK(before.out == after.out);
      CHECK(before.options == after.options);
      // And it is not only the same, it does something. The help of help is help.
      const bool says = without.options != after.options || without.out != after.out;
      CHECK((says || command.command == Command::kHelp || command.command == Command::kVersion));
    }
  }
}

TEST_CASE("ParseCommandLine refuses every flag of another command, before and after the command", "[app][options]") {
  for (const CommandInfo& command : Commands()) {
    const std::vector<std::string> words = LineOf(command);
    const std::vector<Flag> flags = FlagsOf(command);
    for (const Flag& flag : AllFlags()) {
      const auto same = [&flag](const Flag& other) { return other.name == flag.name; };
      if (std::any_of(flags.begin(), flags.end(), same)) continue;
      for (const auto& line : {Joined(Spelled(flag), words), Joined(words, Spelled(flag))}) {
        CAPTURE(line);
        const Parsed parsed = Parse(line);
        CHECK(parsed.exit_code == ExitCode::kUsage);
        CHECK(parsed.err.starts_with("cnpa-op: '--" + std::string(flag.name) + "' is a flag of "));
      }
    }
  }
}

TEST_CASE("ParseCommandLine: a name is a name, whatever it is called", "[app][options]") {
  std::vector<std::string> names{"ts", "team", "a.b", "[a,b]", "[]", "++", "-"};
  for (const CommandInfo& command : Commands()) names.emplace_back(command.name);
  for (const std::string& name : names) {
    CAPTURE(name);
    for (const auto& words : {std::vector<std::string>{name}, {"--", name}}) {
      const Options get = Accepted(Joined(std::vector<std::string>{"get"}, words));
      CHECK(get.command == Command::kGet);
      CHECK(get.names == std::vector{name});
      const Options explain = Accepted(Joined(std::vector<std::string>{"explain"}, words));
      CHECK(explain.command == Command::kExplain);
      CHECK(explain.names == std::vector{name});
    }
    CHECK(Accepted({"get", "alpha", name}).names == std::vector<std::string>{"alpha", name});
    if (name == "[a,b]") continue;  // A comma separates those of --only.
    const Options only = Accepted({"reconcile", "--only", name, "--once"});
    CHECK(only.command == Command::kReconcile);
    CHECK(only.only == std::vector{name});
    CHECK(only.once);
  }
  CHECK(Accepted({"get", "--", "--diff", "-v"}).names == std::vector<std::string>{"--diff", "-v"});
}

TEST_CASE("ParseCommandLine takes back what get -o name prints, where a name is expected", "[app][options]") {
  for (const std::string prefix : {"ts/", "teamspace/", "teamspaces/", "TeamSpace/", "teamspace.platform.labhub.io/",
                                   "teamspaces.platform.labhub.io/"}) {
    CAPTURE(prefix);
    CHECK(Accepted({"get", prefix + "alpha"}).names == std::vector<std::string>{"alpha"});
    CHECK(Accepted({"explain", prefix + "alpha"}).names == std::vector<std::string>{"alpha"});
    std::string both = prefix + "alpha,";
    both += prefix + "beta";
    CHECK(Accepted({"reconcile", "--only", both}).only == std::vector<std::string>{"alpha", "beta"});
  }
  CHECK(Accepted({"get", "ns/alpha"}).names == std::vector<std::string>{"ns/alpha"});
}

TEST_CASE("ParseCommandLine takes lists with commas and lists of flags", "[app][options]") {
  const TempFolder folder;
  const std::vector<std::string> want{"a", "b", "c"};
  CHECK(Accepted({"reconcile", "--only", "a,b", "--only", "c"}).only == want);
  CHECK(Accepted({"reconcile"}, {{"CNPA_OP_ONLY", "a,b,c"}}).only == want);
  CHECK(Accepted({"reconcile", "--config", folder.Write("config.yaml", "only: ['a,b', c]")}).only == want);
}

TEST_CASE("ParseCommandLine takes a value with and without '=', and letters together", "[app][options]") {
  const std::vector<std::vector<std::string>> spellings{{"-o", "json"},       {"-ojson"},        {"-o=json"},
                                                        {"--output", "json"}, {"--output=json"}, {"-vojson"},
                                                        {"-vo", "json"},      {"-vo=json"}};
  for (const std::vector<std::string>& spelling : spellings) {
    CAPTURE(spelling);
    const Options options = Accepted(Joined(std::vector<std::string>{"get"}, spelling));
    CHECK(options.output == OutputFormat::kJson);
    CHECK((options.log_level == LogLevel::kDebug) == spelling.front().starts_with("-v"));
  }
}

TEST_CASE("ParseCommandLine: --version is the command version, wherever it stands", "[app][options]") {
  for (const auto& line : std::vector<std::vector<std::string>>{
           {"--version"}, {"-V"}, {"get", "--version"}, {"-V", "explain"}, {"reconcile", "--once", "--version"}}) {
    CAPTURE(line);
    CHECK(Accepted(line).command == Command::kVersion);
  }
  CHECK(Accepted({"--version", "-o", "json"}).output == OutputFormat::kJson);
}

TEST_CASE("ParseCommandLine prints help to stdout, exit 0", "[app][options]") {
  const Parsed none = Parse({});
  CHECK(none.exit_code == ExitCode::kConverged);
  CHECK(Contains(none.out, "cnpa-op reconcile --diff"));
  CHECK(none.err.empty());
  const Parsed help = Parse({"--help"});
  CHECK(help.out == none.out);
  CHECK(Parse({"help"}).out == none.out);
  for (const CommandInfo& command : Commands()) {
    CAPTURE(command.name);
    const Parsed of_flag = Parse({command.name, "--help"});
    CHECK(of_flag.exit_code == ExitCode::kConverged);
    CHECK(of_flag.out.starts_with("Usage: cnpa-op " + std::string(command.name)));
    CHECK(Parse({"--help", command.name}).out == of_flag.out);
    CHECK(Parse({"help", command.name}).out == of_flag.out);
  }
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

TEST_CASE("SplitArguments takes kubectl's words for flags of reconcile", "[app][arguments]") {
  using Words = std::vector<std::string>;
  for (const Words& words :
       {Words{"reconcile", "--watch", "5m"}, Words{"--watch=5m", "reconcile"}, Words{"reconcile", "--linger=5m"}}) {
    const Result<Arguments> split = SplitArguments(words);
    REQUIRE(split);
    CHECK(split->flags.at("linger") == Words{"5m"});
  }
  CHECK(SplitArguments({"reconcile", "--diff", "--dry-run=server"})->flags.contains("server"));
  CHECK(SplitArguments({"reconcile", "--", "--watch"})->words == Words{"reconcile", "--watch"});
}

}  // namespace
}  // namespace cnpa
