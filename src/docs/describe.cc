// SPDX-License-Identifier: Apache-2.0
#include "docs/describe.h"

#include <algorithm>

namespace cnpa {

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

}  // namespace cnpa
