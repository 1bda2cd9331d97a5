// SPDX-License-Identifier: Apache-2.0
#include "docs/completion.h"

#include <fmt/core.h>

#include "docs/describe.h"

namespace cnpa {
namespace {

constexpr std::string_view kHead =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# Made by cnpa-op-docs of the tables of commands and flags.\n";

std::string Replace(std::string_view text, char from, std::string_view to) {
  std::string replaced;
  for (const char c : text) replaced += c == from ? std::string(to) : std::string(1, c);
  return replaced;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const CommandInfo& command : Commands()) names.emplace_back(command.name);
  return names;
}

/// Returns how the flag is written: "-o", "--output".
std::vector<std::string> Spellings(const Flag& flag) {
  std::vector<std::string> spellings;
  if (!flag.letter.empty()) spellings.push_back(fmt::format("-{}", flag.letter));
  spellings.push_back(fmt::format("--{}", flag.name));
  return spellings;
}

bool TakesValue(const Flag& flag) {
  return flag.kind != FlagKind::kSwitch;
}

/// Returns what completes the value of a flag in bash; "": nothing does.
std::string BashValues(const Flag& flag) {
  const std::vector<std::string> words = WordsOf(flag);
  if (!words.empty()) return fmt::format("-W '{}'", Join(words, " "));
  if (flag.value == "FILE") return "-o filenames -f";
  if (flag.value == "DIR") return "-o filenames -d";
  return {};
}

std::string ZshQuote(std::string_view text) {
  const std::string escaped =
      Replace(Replace(Replace(Replace(text, '\\', "\\\\"), '[', "\\["), ']', "\\]"), ':', "\\:");
  return Replace(escaped, '\'', "'\\''");
}

/// Returns the argument of _arguments for one spelling of a flag: '--timeout=[of a whole run]:DUR: '.
std::string ZshArgument(const Flag& flag, const std::string& spelling) {
  const bool is_long = spelling.starts_with("--");
  const std::string many = flag.kind == FlagKind::kList ? "*" : "";
  if (!TakesValue(flag)) return fmt::format("'{}[{}]'", spelling, ZshQuote(flag.help));
  const std::vector<std::string> words = WordsOf(flag);
  const std::string action = !words.empty()         ? fmt::format("({})", Join(words, " "))
                             : flag.value == "FILE" ? "_files"
                             : flag.value == "DIR"  ? "_files -/"
                                                    : " ";
  return fmt::format("'{}{}{}[{}]:{}:{}'", many, spelling, is_long ? "=" : "+", ZshQuote(flag.help),
                     ZshQuote(flag.value), action);
}

std::string FishQuote(std::string_view text) {
  return "'" + Replace(Replace(text, '\\', "\\\\"), '\'', "\\'") + "'";
}

std::string FishValues(const Flag& flag) {
  const std::vector<std::string> words = WordsOf(flag);
  if (!words.empty()) return fmt::format(" -x -a '{}'", Join(words, " "));
  if (flag.value == "FILE") return " -r -F";
  if (flag.value == "DIR") return " -x -a '(__fish_complete_directories)'";
  return TakesValue(flag) ? " -x" : "";
}

}  // namespace

std::string BashCompletion() {
  std::string flags;
  for (const CommandInfo& command : Commands()) {
    std::vector<std::string> names;
    for (const Flag& flag : FlagsOf(command)) {
      for (const std::string& spelling : Spellings(flag)) names.push_back(spelling);
    }
    if (command.names == NamesTaken::kCommand) {
      for (const std::string& name : CommandNames()) names.push_back(name);
    }
    flags += fmt::format("    {}) words='{}' ;;\n", command.name, Join(names, " "));
  }
  std::string values;
  std::vector<std::string> free_texts;
  for (const Flag& flag : AllFlags()) {
    if (!TakesValue(flag)) continue;
    const std::string how = BashValues(flag);
    std::vector<std::string> cases;
    for (const std::string& command : CommandsWith(flag)) {
      for (const std::string& spelling : Spellings(flag)) cases.push_back(fmt::format("'{} {}'", command, spelling));
    }
    const std::string spellings = Join(cases, " | ");
    if (how.empty()) {
      free_texts.push_back(spellings);
    } else {
      values += fmt::format("    {}) _cnpa_op_offer {} ; return ;;\n", spellings, how);
    }
  }
  values += fmt::format("    {}) return ;;\n", Join(free_texts, " | "));
  const std::string commands = Join(CommandNames(), " ");
  return fmt::format(
      R"({head}
# Offers what compgen says with these options. Names of files are marked as such, so that folders get their slash.
_cnpa_op_offer() {{
  if [[ $1 == -o ]]; then
    compopt -o "$2" 2>/dev/null
    shift 2
  fi
  local line
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$@" -- "$cur")
}}

_cnpa_op() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} before='' command='' words='{commands} -h --help -V --version' word
  local -i i
  COMPREPLY=()
  ((COMP_CWORD == 0)) || before=${{COMP_WORDS[COMP_CWORD - 1]}}
  # '=' is a word of its own: --output=json is three.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    case $word in {alternatives}) command=$word; break ;; esac
  done
  case "$command $before" in
{values}  esac
  case $command in
{flags}  esac
  _cnpa_op_offer -W "$words"
}}
complete -F _cnpa_op cnpa-op
)",
      fmt::arg("head", kHead), fmt::arg("commands", commands), fmt::arg("alternatives", Join(CommandNames(), " | ")),
      fmt::arg("values", values), fmt::arg("flags", flags));
}

std::string ZshCompletion() {
  std::string commands;
  std::string arguments;
  for (const CommandInfo& command : Commands()) {
    commands += fmt::format("        '{}:{}'\n", command.name, ZshQuote(command.help));
    arguments += fmt::format("        {})\n          _arguments -s -S", command.name);
    for (const Flag& flag : FlagsOf(command)) {
      for (const std::string& spelling : Spellings(flag)) {
        arguments += " \\\n            " + ZshArgument(flag, spelling);
      }
    }
    if (command.names == NamesTaken::kCommand) {
      arguments += fmt::format(" \\\n            '1:command:({})'", Join(CommandNames(), " "));
    }
    arguments += "\n          ;;\n";
  }
  return fmt::format(
      R"(#compdef cnpa-op
{head}
_cnpa_op() {{
  local curcontext="$curcontext" state line
  local -a commands
  _arguments -C '(-h --help)'{{-h,--help}}'[{help}]' '(-V --version)'{{-V,--version}}'[{version}]' \
    '1: :->command' '*:: :->flags'
  case $state in
    command)
      commands=(
{commands}      )
      _describe command commands
      ;;
    flags)
      case $words[1] in
{arguments}      esac
      ;;
  esac
}}

if [[ $funcstack[1] == _cnpa-op ]]; then
  _cnpa_op "$@"
else
  compdef _cnpa_op cnpa-op
fi
)",
      fmt::arg("head", kHead), fmt::arg("help", kHelpHelp), fmt::arg("version", kVersionHelp),
      fmt::arg("commands", commands), fmt::arg("arguments", arguments));
}

std::string FishCompletion() {
  std::string text = fmt::format("{}complete -c cnpa-op -f\n", kHead);
  text += fmt::format("complete -c cnpa-op -s h -l help -d {}\n", FishQuote(kHelpHelp));
  text += fmt::format("complete -c cnpa-op -s V -l version -d {}\n", FishQuote(kVersionHelp));
  for (const CommandInfo& command : Commands()) {
    text += fmt::format("complete -c cnpa-op -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        FishQuote(command.help));
    if (command.names == NamesTaken::kCommand) {
      text += fmt::format("complete -c cnpa-op -n '__fish_seen_subcommand_from {}' -a '{}'\n", command.name,
                          Join(CommandNames(), " "));
    }
    for (const Flag& flag : FlagsOf(command)) {
      if (flag.name == "help" || flag.name == "version") continue;
      text += fmt::format("complete -c cnpa-op -n '__fish_seen_subcommand_from {}'{} -l {}{} -d {}\n", command.name,
                          flag.letter.empty() ? "" : fmt::format(" -s {}", flag.letter), flag.name, FishValues(flag),
                          FishQuote(flag.help));
    }
  }
  return text;
}

}  // namespace cnpa
