// SPDX-License-Identifier: Apache-2.0
#include "docs/describe.h"

#include <algorithm>

namespace cnpa {
namespace {

constexpr Flag kConfigFlag{"config", "", FlagKind::kValue, "FILE", "", 0, true, kConfigHelp, nullptr};
constexpr Flag kHelpFlag{"help", "h", FlagKind::kSwitch, "", "false", 0, true, kHelpHelp, nullptr};

std::vector<std::string> Split(std::string_view text, std::string_view between) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find(between, start);
    if (end > start) parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + between.size();
  }
}

std::string Trim(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \n"), text.size());
  return std::string(text.substr(first, text.find_last_not_of(" \n") + 1 - first));
}

std::pair<std::string, std::string> ReadExitCode(const std::string& line) {
  const std::string text = Trim(line);
  const std::size_t gap = std::min(text.find("  "), text.size());
  return {text.substr(0, gap), Trim(std::string_view(text).substr(gap))};
}

}  // namespace

std::vector<Flag> FlagsOf(const CommandInfo& command) {
  std::vector<Flag> flags;
  for (const Flag& flag : Flags()) {
    if ((flag.scope & command.scope) != 0U) flags.push_back(flag);
  }
  if (command.configured) flags.push_back(kConfigFlag);
  flags.push_back(kHelpFlag);
  return flags;
}

std::vector<Flag> AllFlags() {
  std::vector<Flag> flags(Flags().begin(), Flags().end());
  flags.push_back(kConfigFlag);
  flags.push_back(kHelpFlag);
  return flags;
}

std::vector<std::string> CommandsWith(const Flag& flag) {
  std::vector<std::string> names;
  for (const CommandInfo& command : Commands()) {
    const std::vector<Flag> flags = FlagsOf(command);
    // Two commands may have another flag of the same name.
    const auto is_it = [&flag](const Flag& other) { return other.name == flag.name && other.scope == flag.scope; };
    if (std::any_of(flags.begin(), flags.end(), is_it)) names.emplace_back(command.name);
  }
  return names;
}

std::vector<Flag> Keys() {
  std::vector<Flag> keys;
  for (const Flag& flag : Flags()) {
    if (!flag.command_line_only) keys.push_back(flag);
  }
  return keys;
}

std::vector<std::string> WordsOf(const Flag& flag) {
  if (flag.kind == FlagKind::kSwitch || flag.set == nullptr) return {};
  // The function that sets it names them, when it is given a word that is none of them.
  constexpr std::string_view kBefore = " is none of ";
  Options options;
  const Status set = flag.set(options, "?");
  if (set) return {};
  const std::size_t before = set.error().message.find(kBefore);
  if (before == std::string::npos) return {};
  return Split(std::string_view(set.error().message).substr(before + kBefore.size()), ", ");
}

std::string TypeOf(const Flag& flag) {
  if (!WordsOf(flag).empty()) return "word";
  if (flag.kind == FlagKind::kSwitch) return "true or false";
  if (flag.kind == FlagKind::kList) return "list of texts";
  if (flag.value == "DUR") return "duration";
  if (flag.value == "N") return "whole number";
  if (flag.value == "FILE") return "path of a file";
  if (flag.value == "DIR") return "path of a folder";
  return "text";
}

std::string ExampleOf(const Flag& flag) {
  if (!flag.fallback.empty()) return std::string(flag.fallback);
  if (flag.kind == FlagKind::kList) return "[alpha, beta]";
  if (flag.value == "DUR") return "60s";
  if (flag.value == "N") return "1";
  if (flag.name == "metrics-file") return "/run/cnpa-op/cnpa-op.prom";
  if (flag.value == "FILE") return "/etc/cnpa-op/" + std::string(flag.name);
  if (flag.value == "DIR") return "/var/lib/cnpa-op/" + std::string(flag.name);
  return "default";
}

std::string Join(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(between)) + part;
  return text;
}

Footer ReadFooter(std::string_view text) {
  Footer footer;
  for (const std::string& block : Split(text, "\n\n")) {
    std::vector<std::string> lines = Split(block, "\n");
    const std::string title = lines.empty() ? "" : lines.front();
    if (title == "Exit codes:") {
      for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i].starts_with(' ')) {
          footer.exit_codes.push_back(ReadExitCode(lines[i]));
        } else {
          footer.exit_notes.push_back(lines[i]);
        }
      }
    } else if (title == "Examples:") {
      for (std::size_t i = 1; i < lines.size(); ++i) footer.examples.push_back(Trim(lines[i]));
    } else if (!lines.empty()) {
      footer.paragraphs.push_back(Join(lines, " "));
    }
  }
  return footer;
}

}  // namespace cnpa
