// SPDX-License-Identifier: Apache-2.0
#include "docs/config.h"

#include <algorithm>

#include <fmt/core.h>

#include "docs/describe.h"

namespace cnpa {
namespace {

constexpr std::size_t kWidth = 120;

/// Returns `text` as lines that begin with "# ", none wider than a screen that code is read on.
std::string Comment(const std::string& text) {
  std::string lines;
  std::string line = "#";
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    if (line.size() + 1 + end - start > kWidth) {
      lines += line + "\n";
      line = "#";
    }
    line += " " + text.substr(start, end - start);
    start = end + 1;
  }
  return lines + line + "\n";
}

}  // namespace

std::string ConfigLines(std::string_view before) {
  std::string lines;
  for (const Flag& key : Keys()) lines += fmt::format("{}{}: {}\n", before, key.name, ExampleOf(key));
  return lines;
}

std::string ConfigFile() {
  std::string file =
      "# SPDX-License-Identifier: Apache-2.0\n" +
      Comment(
          "Configuration of cnpa-op; see cnpa-op-config(5). Each key stands here with its default or, where the "
          "default is not the same everywhere, with a value that may be meant. Flags and CNPA_OP_* variables beat "
          "what stands here.");
  for (const Flag& key : Keys()) {
    file += "\n" +
            Comment(fmt::format("{} ({}{})", key.help, TypeOf(key), key.fallback.empty() ? "; no fixed default" : ""));
    file += fmt::format("#{}: {}\n", key.name, ExampleOf(key));
  }
  return file;
}

}  // namespace cnpa
