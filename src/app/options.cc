// SPDX-License-Identifier: Apache-2.0
#include "app/options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "app/commands.h"
#include "app/config_file.h"
#include "app/flags.h"
#include "app/help.h"
#include "app/output.h"
#include "base/file.h"

namespace cnpa {
namespace {

constexpr std::size_t kPageColumns = 80;

/// The texts that the command line holds for the flags of one command.
struct Given {
  CLI::App* app = nullptr;
  std::map<std::string_view, std::vector<std::string>> texts;
  std::string config;
};

void AddFlag(const Flag& flag, Given& given) {
  std::string names = fmt::format("--{}", flag.name);
  if (!flag.letter.empty()) names = fmt::format("-{},{}", flag.letter, names);
  std::vector<std::string>& texts = given.texts[flag.name];
  if (flag.kind == FlagKind::kSwitch) {
    given.app->add_flag_function(names, [&texts](std::int64_t count) { texts = {count > 0 ? "true" : "false"}; });
    return;
  }
  CLI::Option* option = given.app->add_option(names, texts);
  option->allow_extra_args(false);
  if (flag.kind == FlagKind::kValue) option->expected(1)->take_last();
}

Result<std::map<std::string, Setting>> LoadConfig(const Given& given, const Environment& environment) {
  const std::string named = !given.config.empty() ? given.config : environment("CNPA_OP_CONFIG").value_or("");
  Result<std::map<std::string, Setting>> settings = ReadConfigFile(named.empty() ? kDefaultConfig : named);
  if (!settings && settings.error().code == ErrorCode::kNotFound && named.empty()) {
    return std::map<std::string, Setting>();
  }
  return settings;
}

std::vector<std::string> ConfigKeys() {
  std::vector<std::string> keys;
  for (const Flag& flag : Flags()) {
    if (!flag.command_line_only) keys.emplace_back(flag.name);
  }
  return keys;
}

Status CheckKeys(const std::string& path, const std::map<std::string, Setting>& settings) {
  const std::vector<std::string> keys = ConfigKeys();
  for (const auto& [key, setting] : settings) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    const std::string near = NearMatch(key, keys);
    return Fail(ErrorCode::kInvalid, fmt::format("{}:{}: unknown key '{}'{}", path, setting.line, key,
                                                 near.empty() ? "" : fmt::format(": did you mean '{}'?", near)));
  }
  return {};
}

std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

/// The texts for one flag and where they come from, so that a wrong one can be told by its place.
struct Source {
  std::vector<std::string> texts;
  std::string place;
};

Source FindSource(const Flag& flag, const Given& given, const Environment& environment, const std::string& path,
                  const std::map<std::string, Setting>& settings) {
  if (const auto texts = given.texts.find(flag.name); texts != given.texts.end() && !texts->second.empty()) {
    return {texts->second, fmt::format("--{}", flag.name)};
  }
  if (!flag.command_line_only) {
    const std::string variable = EnvironmentName(flag);
    if (const std::optional<std::string> text = environment(variable)) {
      return {flag.kind == FlagKind::kList ? SplitCommas(*text) : std::vector{*text}, variable};
    }
    if (const auto setting = settings.find(std::string(flag.name)); setting != settings.end()) {
      return {setting->second.values, fmt::format("{}:{}: {}", path, setting->second.line, flag.name)};
    }
  }
  if (flag.fallback.empty()) return {};
  return {{std::string(flag.fallback)}, std::string(flag.name)};
}

Status FillOptions(const Given& given, const CommandInfo& info, const Environment& environment, Options& options) {
  const bool configured = info.configured;
  const Environment nothing = [](const std::string& /*name*/) { return std::nullopt; };
  const Environment& variables = configured ? environment : nothing;
  const Result<std::map<std::string, Setting>> settings =
      configured ? LoadConfig(given, environment) : std::map<std::string, Setting>();
  if (!settings) return tl::unexpected<Error>(settings.error());
  const std::string path =
      !given.config.empty() ? given.config : environment("CNPA_OP_CONFIG").value_or(kDefaultConfig);
  if (Status known = CheckKeys(path, *settings); !known) return known;
  for (const Flag& flag : Flags()) {
    // Of another command, which may have another of this name.
    if (flag.command_line_only && (flag.scope & info.scope) == 0U) continue;
    const Source source = FindSource(flag, given, variables, path, *settings);
    if (flag.kind != FlagKind::kList && source.texts.size() > 1) {
      return Fail(ErrorCode::kInvalid, source.place + ": takes one value, not a list");
    }
    for (const std::string& text : source.texts) {
      if (Status set = flag.set(options, text); !set) return Annotate(std::move(set).error(), source.place);
    }
  }
  options.archive_is_default = options.archive.empty();
  if (options.archive_is_default) options.archive = DefaultArchive(environment, ::geteuid() == 0);
  options.archive.resize(WithoutEndingSlashes(options.archive).size());
  return {};
}

CommandLine UsageError(std::string message) {
  return {.options = {}, .exit_code = ExitCode::kUsage, .error = std::move(message), .help = {}};
}

CommandLine Help(std::string text) {
  return {.options = {}, .exit_code = ExitCode::kConverged, .error = {}, .help = std::move(text)};
}

/// Returns a line for an argument that nobody knows, with what was perhaps meant.
std::string DescribeExtra(const std::string& word, const Given* command) {
  std::vector<std::string> known;
  if (word.starts_with("-")) {
    for (const Flag& flag : Flags()) {
      if (command == nullptr || command->texts.contains(flag.name)) known.push_back("--" + std::string(flag.name));
    }
    known.emplace_back("--help");
    if (command != nullptr && command->app->get_option_no_throw("--config") != nullptr) known.emplace_back("--config");
  } else if (command == nullptr) {
    for (const CommandInfo& info : Commands()) known.emplace_back(info.name);
  }
  const std::string near = NearMatch(word.substr(0, word.find('=')), known);
  const char* kind = word.starts_with("-") ? "flag" : command == nullptr ? "command" : "argument";
  if (!near.empty()) return fmt::format("unknown {} '{}': did you mean '{}'?", kind, word, near);
  return fmt::format("unknown {} '{}': see cnpa-op{}{} --help", kind, word, command == nullptr ? "" : " ",
                     command == nullptr ? "" : command->app->get_name());
}

std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// The parser and, per command, what it was given.
class Parser {
 public:
  Parser() : app_("", "cnpa-op") {
    app_.set_help_flag("-h,--help");
    app_.prefix_command(false);
    for (const CommandInfo& info : Commands()) {
      CLI::App* command = app_.add_subcommand(info.name, info.help);
      command->set_help_flag("-h,--help");
      auto given = std::make_unique<Given>();
      given->app = command;
      for (const Flag& flag : Flags()) {
        if ((flag.scope & info.scope) != 0U) AddFlag(flag, *given);
      }
      if (info.configured) {
        command->add_option("--config", given->config);
      }
      command->allow_extras();
      given_.push_back(std::move(given));
    }
    app_.allow_extras();
  }

  CommandLine Parse(int argc, const char* const* argv, const Environment& environment) {
    try {
      app_.parse(argc, const_cast<char**>(argv));  // NOLINT(cppcoreguidelines-pro-type-const-cast): CLI11 only reads.
    } catch (const CLI::CallForHelp&) {
      return HelpOfCommand();
    } catch (const CLI::ParseError& error) {
      return UsageError(FirstLine(error.what()));
    }
    for (std::size_t i = 0; i < Commands().size(); ++i) {
      if (given_[i]->app->parsed()) return Finish(Commands()[i], *given_[i], environment);
    }
    if (const std::vector<std::string> extras = app_.remaining(); !extras.empty()) {
      return UsageError(DescribeExtra(extras.front(), nullptr));
    }
    return Help(std::string(ShortHelp()));
  }

 private:
  CommandLine HelpOfCommand() {
    std::string help(ShortHelp());
    const std::size_t columns = std::min(TerminalColumns(STDOUT_FILENO).value_or(kPageColumns), kPageColumns);
    for (std::size_t i = 0; i < Commands().size(); ++i) {
      if (given_[i]->app->parsed()) help = HelpText(Commands()[i], columns);
    }
    return Help(std::move(help));
  }

  static CommandLine Finish(const CommandInfo& info, const Given& given, const Environment& environment) {
    CommandLine line;
    for (const std::string& extra : given.app->remaining()) {
      if (info.names == NamesTaken::kNone || extra.starts_with('-')) return UsageError(DescribeExtra(extra, &given));
      line.options.names.push_back(extra);
    }
    if (info.names == NamesTaken::kOne && line.options.names.size() != 1) {
      return UsageError(fmt::format("{} takes the name of one team space: cnpa-op {} NAME", info.name, info.name));
    }
    line.options.command = info.command;
    if (Status filled = FillOptions(given, info, environment, line.options); !filled)
      return UsageError(filled.error().message);
    return line;
  }

  CLI::App app_;
  std::vector<std::unique_ptr<Given>> given_;
};

}  // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv, const Environment& environment) {
  CommandLine line = Parser().Parse(argc, argv, environment);
  Print(line.help);
  if (!line.error.empty()) Log(LogLevel::kError, LogFormat::kAuto).Error(line.error);
  return line;
}

Result<Options> ReparseCommandLine(int argc, const char* const* argv, const Environment& environment) {
  CommandLine line = Parser().Parse(argc, argv, environment);
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
