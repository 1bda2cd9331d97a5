// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command_line.h"

#include <algorithm>
#include <map>
#include <span>
#include <unistd.h>

#include <fmt/core.h>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/config_file.h"
#include "app/cli/flags.h"
#include "app/cli/habits.h"
#include "app/cli/help.h"
#include "app/cli/names.h"
#include "app/cli/variables.h"
#include "app/output/output.h"
#include "base/file.h"

namespace cnpa {
namespace {

using Settings = std::map<std::string, Setting>;

constexpr std::size_t kPageColumns = 80;

/// Returns the last text that was given for a flag; nothing when it was not given.
std::optional<std::string> LastText(const Arguments& given, std::string_view name) {
  const auto texts = given.flags.find(name);
  if (texts == given.flags.end()) return std::nullopt;
  return texts->second.back();
}

Status CheckKeys(const std::string& path, const Settings& settings) {
  std::vector<std::string> keys;
  for (const Flag& flag : Flags()) {
    if (!flag.command_line_only) keys.emplace_back(flag.name);
  }
  for (const auto& [key, setting] : settings) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    const std::string near = NearMatch(key, keys);
    return Fail(ErrorCode::kInvalid, fmt::format("{}:{}: unknown key '{}'{}", path, setting.line, key,
                                                 near.empty() ? "" : fmt::format(": did you mean '{}'?", near)));
  }
  return {};
}

/// Where values come from that no flag gives.
struct Configuration {
  Environment environment;
  std::string path;
  Settings settings;
};

Result<Configuration> LoadConfiguration(const Arguments& given, const Environment& environment) {
  const std::optional<std::string> flag = LastText(given, "config");
  if (flag && flag->empty()) return Fail(ErrorCode::kInvalid, "--config: must not be empty");
  const std::optional<std::string> named = flag ? flag : environment(kConfigVariable);
  Configuration configuration{.environment = environment, .path = named.value_or(kDefaultConfig), .settings = {}};
  Result<Settings> settings = ReadConfigFile(configuration.path);
  if (!settings && settings.error().code == ErrorCode::kNotFound && !named) return configuration;
  if (!settings) return tl::unexpected<Error>(std::move(settings).error());
  if (Status known = CheckKeys(configuration.path, *settings); !known) return tl::unexpected<Error>(known.error());
  configuration.settings = *std::move(settings);
  return configuration;
}

/// The texts for one flag and where they come from, so that a wrong one is reported with its place.
struct Source {
  std::vector<std::string> texts;
  std::string place;
  bool is_list = false;
};

Source FindSource(const Flag& flag, const Arguments& given, const Configuration& configuration) {
  if (const std::optional<std::string> last = LastText(given, flag.name)) {
    return {flag.kind == FlagKind::kList ? given.flags.at(flag.name) : std::vector{*last},
            fmt::format("--{}", flag.name)};
  }
  if (!flag.command_line_only) {
    const std::string variable = EnvironmentName(flag);
    if (const std::optional<std::string> text = configuration.environment(variable)) return {{*text}, variable};
    if (const auto setting = configuration.settings.find(std::string(flag.name));
        setting != configuration.settings.end()) {
      return {setting->second.values, fmt::format("{}:{}: {}", configuration.path, setting->second.line, flag.name),
              setting->second.is_list};
    }
  }
  if (flag.fallback.empty()) return {};
  return {{std::string(flag.fallback)}, std::string(flag.name)};
}

Status FillOptions(const Arguments& given, const CommandInfo& info, const Configuration& configuration,
                   Options& options) {
  for (const Flag& flag : Flags()) {
    // Of another command, which may have another of this name.
    if (flag.command_line_only && (flag.scope & info.scope) == 0U) continue;
    const Source source = FindSource(flag, given, configuration);
    if (flag.kind != FlagKind::kList && source.is_list) {
      return Fail(ErrorCode::kInvalid, source.place + ": takes one value, not a list");
    }
    for (const std::string& text : source.texts) {
      if (Status set = flag.set(options, text); !set) return Annotate(std::move(set).error(), source.place);
    }
  }
  return {};
}

CommandLine UsageError(std::string message) {
  return {.options = {}, .exit_code = ExitCode::kUsage, .error = std::move(message), .help = {}, .warnings = {}};
}

CommandLine Help(std::string text) {
  return {.options = {}, .exit_code = ExitCode::kConverged, .error = {}, .help = std::move(text), .warnings = {}};
}

const CommandInfo* FindCommand(std::string_view name) {
  const std::span<const CommandInfo> commands = Commands();
  const auto found =
      std::find_if(commands.begin(), commands.end(), [name](const CommandInfo& info) { return info.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

const Flag* FindFlag(const std::vector<Flag>& flags, std::string_view name) {
  const auto found = std::find_if(flags.begin(), flags.end(), [name](const Flag& flag) { return flag.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

std::vector<std::string> CommandsWith(std::string_view flag) {
  std::vector<std::string> names;
  for (const CommandInfo& info : Commands()) {
    if (FindFlag(FlagsOf(info), flag) != nullptr) names.emplace_back(info.name);
  }
  return names;
}

/// Returns "unknown KIND 'word'", with what was perhaps meant or where to look.
std::string DescribeUnknown(const char* kind, const std::string& word, std::string_view meant, const char* command) {
  if (!meant.empty()) return fmt::format("unknown {} '{}': did you mean '{}'?", kind, word, meant);
  return fmt::format("unknown {} '{}': see cnpa-op{}{} --help", kind, word, *command == '\0' ? "" : " ", command);
}

CommandLine UnknownCommand(const std::string& word) {
  std::vector<std::string> names;
  for (const CommandInfo& info : Commands()) names.emplace_back(info.name);
  const std::string_view habit = HabitFor(word, Command::kNone);
  return UsageError(DescribeUnknown("command", word, habit.empty() ? NearMatch(word, names) : habit, ""));
}

CommandLine UnknownFlag(const std::string& word, const CommandInfo* info) {
  std::vector<std::string> names;
  for (const Flag& flag : info != nullptr ? FlagsOf(*info) : AllFlags())
    names.push_back(fmt::format("--{}", flag.name));
  const std::string_view habit = info != nullptr ? HabitFor(word, info->command) : "";
  const std::string near = NearMatch(word.substr(0, word.find('=')), names);
  return UsageError(DescribeUnknown("flag", word, habit.empty() ? near : habit, info != nullptr ? info->name : ""));
}

/// Returns the help of the command that `words` name, or the short one of all.
CommandLine HelpOf(std::span<const std::string> words) {
  if (words.empty()) return Help(std::string(ShortHelp()));
  const CommandInfo* info = FindCommand(words.front());
  if (info == nullptr) return UnknownCommand(words.front());
  const std::size_t columns = std::min(TerminalColumns(STDOUT_FILENO).value_or(kPageColumns), kPageColumns);
  return Help(HelpText(*info, columns));
}

/// Flags, but no command.
CommandLine WithoutCommand(const Arguments& given) {
  for (const auto& [name, texts] : given.flags) {
    const std::vector<std::string> commands = CommandsWith(name);
    if (commands.size() == 1) {
      return UsageError(fmt::format("no command: did you mean 'cnpa-op {} --{}'?", commands.front(), name));
    }
  }
  return UsageError("no command: see cnpa-op --help");
}

/// Finds what `given` has that its command does not take.
Status CheckFlags(const Arguments& given, const CommandInfo& info) {
  const std::vector<Flag> flags = FlagsOf(info);
  std::vector<std::string_view> names = given.without_value;
  for (const auto& [name, texts] : given.flags) names.push_back(name);
  for (const std::string_view name : names) {
    if (FindFlag(flags, name) != nullptr) continue;
    return Fail(ErrorCode::kInvalid, fmt::format("'--{}' is a flag of {}, not of {}: see cnpa-op {} --help", name,
                                                 Join(CommandsWith(name), ", "), info.name, info.name));
  }
  if (!given.without_value.empty()) {
    const Flag& flag = *FindFlag(flags, given.without_value.front());
    const std::vector<std::string> words = WordsOf(flag);
    return Fail(ErrorCode::kInvalid, fmt::format("--{} needs a value: {}", flag.name,
                                                 words.empty() ? std::string(flag.value) : Join(words, ", ")));
  }
  if (given.flags.contains("user") && given.flags.contains("serviceaccount")) {
    return Fail(ErrorCode::kInvalid, "--user and --serviceaccount exclude each other: keep one");
  }
  return {};
}

/// Returns the names that stand behind the command.
Result<std::vector<std::string>> ReadNames(std::span<const std::string> words, const CommandInfo& info) {
  if (info.names == NamesTaken::kNone && !words.empty()) {
    return Fail(ErrorCode::kInvalid, DescribeUnknown("argument", words.front(), "", info.name));
  }
  if (info.names == NamesTaken::kOne && words.size() != 1) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} takes the name of one team space: cnpa-op {} NAME", info.name, info.name));
  }
  std::vector<std::string> names;
  for (const std::string& word : words) {
    names.push_back(NameIn(word));
    if (names.back().empty()) return Fail(ErrorCode::kInvalid, fmt::format("'{}' is not a name", word));
  }
  return names;
}

/// Reads what is given to a command, and the configuration where it has one.
CommandLine ReadCommand(const Arguments& given, const CommandInfo& info, const std::vector<std::string>& variables) {
  CommandLine line{.options = {.command = info.command}, .exit_code = {}, .error = {}, .help = {}, .warnings = {}};
  Configuration configuration{
      .environment = [](const std::string& /*name*/) { return std::nullopt; }, .path = {}, .settings = {}};
  const Environment environment = EnvironmentFrom(variables);
  if (info.configured) {
    Result<std::vector<std::string>> warnings = CheckVariables(variables);
    if (!warnings) return UsageError(warnings.error().message);
    line.warnings = *std::move(warnings);
    Result<Configuration> loaded = LoadConfiguration(given, environment);
    if (!loaded) return UsageError(loaded.error().message);
    configuration = *std::move(loaded);
  }
  if (const Status filled = FillOptions(given, info, configuration, line.options); !filled) {
    return UsageError(filled.error().message);
  }
  line.options.archive_is_default = line.options.archive.empty();
  if (line.options.archive_is_default) line.options.archive = DefaultArchive(environment, ::geteuid() == 0);
  line.options.archive.resize(WithoutEndingSlashes(line.options.archive).size());
  return line;
}

CommandLine Parse(int argc, const char* const* argv, const std::vector<std::string>& variables) {
  const Result<Arguments> split = SplitArguments({argv + std::min(argc, 1), argv + argc});
  if (!split) return UsageError(split.error().message);
  const Arguments& given = *split;
  const std::span<const std::string> words = given.words;
  if (given.flags.contains("help")) return HelpOf(words);
  const CommandInfo* info = words.empty() ? nullptr : FindCommand(words.front());
  if (!given.unknown.empty()) return UnknownFlag(given.unknown.front(), info);
  if (given.flags.contains("version")) return ReadCommand(given, *FindCommand("version"), variables);
  if (words.empty()) {
    const bool nothing = given.flags.empty() && given.without_value.empty();
    return nothing ? HelpOf({}) : WithoutCommand(given);
  }
  if (info == nullptr) return UnknownCommand(words.front());
  if (const Status fits = CheckFlags(given, *info); !fits) return UsageError(fits.error().message);
  if (info->names == NamesTaken::kCommand) {
    if (words.size() > 2) return UsageError(DescribeUnknown("argument", words[2], "", info->name));
    return HelpOf(words.subspan(1));
  }
  Result<std::vector<std::string>> names = ReadNames(words.subspan(1), *info);
  if (!names) return UsageError(names.error().message);
  CommandLine line = ReadCommand(given, *info, variables);
  line.options.names = *std::move(names);
  return line;
}

}  // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv, const std::vector<std::string>& variables) {
  CommandLine line = Parse(argc, argv, variables);
  const Log log(line.options.log_level, line.options.log_format);
  for (const std::string& warning : line.warnings) log.Warn(warning);
  Print(line.help);
  if (const Status written = line.help.empty() ? Status() : FlushOutput(); !written) {
    line.error = written.error().message;
    line.exit_code = ExitCode::kUsage;
  }
  if (!line.error.empty()) log.Error(line.error);
  return line;
}

Result<Options> ReparseCommandLine(int argc, const char* const* argv, const std::vector<std::string>& variables) {
  CommandLine line = Parse(argc, argv, variables);
  if (!line.error.empty()) return Fail(ErrorCode::kInvalid, std::move(line.error));
  return std::move(line.options);
}

std::string DefaultArchive(const Environment& environment, bool is_root) {
  if (const auto state = environment("STATE_DIRECTORY")) return state->substr(0, state->find(':')) + "/archive";
  if (environment("KUBERNETES_SERVICE_HOST")) return {};
  if (is_root) return "/var/lib/cnpa-op/archive";
  if (const auto state = environment("XDG_STATE_HOME")) return *state + "/cnpa-op/archive";
  if (const auto home = environment("HOME")) return *home + "/.local/state/cnpa-op/archive";
  return {};
}

}  // namespace cnpa
