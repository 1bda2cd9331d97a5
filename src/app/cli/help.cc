// SPDX-License-Identifier: Apache-2.0
#include "app/cli/help.h"

#include <algorithm>

#include <fmt/core.h>

#include "app/output/page.h"

namespace cnpa {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kCodeWidth = 12;  // "  130, 143  "

constexpr Flag kConfigFlag{"config", "", FlagKind::kValue, "FILE", "", 0, true, kConfigHelp, nullptr};
constexpr Flag kHelpFlag{"help", "h", FlagKind::kSwitch, "", "false", 0, true, kHelpHelp, nullptr};
constexpr Flag kVersionFlag{"version", "V", FlagKind::kSwitch, "", "false", 0, true, kVersionHelp, nullptr};

std::string Trim(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \n"), text.size());
  return std::string(text.substr(first, text.find_last_not_of(" \n") + 1 - first));
}

std::pair<std::string, std::string> ReadExitCode(const std::string& line) {
  const std::string text = Trim(line);
  const std::size_t gap = std::min(text.find("  "), text.size());
  return {text.substr(0, gap), Trim(std::string_view(text).substr(gap))};
}

/// Returns `text`, which begins with a small letter and has no full stop, as a sentence.
std::string Sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

std::string_view NamesOf(const CommandInfo& command) {
  switch (command.names) {
    case NamesTaken::kNone: return "";
    case NamesTaken::kOne: return " NAME";
    case NamesTaken::kAny: return " [NAME...]";
    case NamesTaken::kCommand: return " [COMMAND]";
  }
  return "";
}

std::string HeadOf(const Flag& flag) {
  std::string head = flag.letter.empty() ? "      " : fmt::format("  -{}, ", flag.letter);
  head += fmt::format("--{}", flag.name);
  if (flag.kind != FlagKind::kSwitch) head += fmt::format(" {}", flag.value);
  return head;
}

std::string TextOf(const Flag& flag) {
  if (flag.fallback.empty() || flag.kind == FlagKind::kSwitch) return std::string(flag.help);
  return fmt::format("{} (default {})", flag.help, flag.fallback);
}

}  // namespace

std::vector<std::string> Split(std::string_view text, std::string_view between) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = std::min(text.find(between, start), text.size());
    if (end > start) parts.emplace_back(text.substr(start, end - start));
    if (end == text.size()) return parts;
    start = end + between.size();
  }
}

std::vector<Flag> FlagsOf(const CommandInfo& command) {
  std::vector<Flag> flags;
  for (const Flag& flag : Flags()) {
    if ((flag.scope & command.scope) != 0U) flags.push_back(flag);
  }
  if (command.configured) flags.push_back(kConfigFlag);
  flags.push_back(kHelpFlag);
  flags.push_back(kVersionFlag);
  return flags;
}

std::vector<Flag> AllFlags() {
  std::vector<Flag> flags(Flags().begin(), Flags().end());
  flags.push_back(kConfigFlag);
  flags.push_back(kHelpFlag);
  flags.push_back(kVersionFlag);
  return flags;
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

std::string HelpText(const CommandInfo& command, std::size_t columns) {
  Page page({.color = false, .columns = columns});
  const auto put = [&page](const std::string& head, std::size_t width, const std::string& text) {
    page.Put({{fmt::format("{:<{}}", head, width), Tone::kPlain}}, {{text, Tone::kPlain}}, width);
  };
  const Footer footer = ReadFooter(command.footer);
  page.Put(fmt::format("Usage: cnpa-op {}{} [FLAGS]", command.name, NamesOf(command)));
  page.Put("");
  page.Put(Sentence(command.help));
  for (const std::string& paragraph : footer.paragraphs) {
    page.Put("");
    page.Put(paragraph);
  }
  page.Put("");
  page.Put("Flags:");
  const std::vector<Flag> flags = FlagsOf(command);
  std::size_t width = 0;
  for (const Flag& flag : flags) width = std::max(width, HeadOf(flag).size() + kGap);
  for (const Flag& flag : flags) put(HeadOf(flag), width, TextOf(flag));
  if (!footer.exit_codes.empty()) {
    page.Put("");
    page.Put("Exit codes:");
  }
  for (const auto& [code, meaning] : footer.exit_codes) put("  " + code, kCodeWidth, meaning);
  if (!footer.exit_notes.empty()) page.Put(Join(footer.exit_notes, " "));
  std::string text;
  for (const std::string& line : page.TakeLines()) text += line + "\n";
  if (!footer.examples.empty()) text += "\nExamples:\n";
  for (const std::string& example : footer.examples) text += "  " + example + "\n";
  return text;
}

}  // namespace cnpa
