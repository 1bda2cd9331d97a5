// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <charconv>
#include <cstdint>
#include <fstream>
#include <malloc.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <vector>

namespace cnpa {
namespace {

struct Mapping {
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  bool is_file = false;     ///< Of a file, private and not to be written to.
  bool no_pages = false;    ///< None of its pages was written to, not even by the loader,
  bool no_swapped = false;  ///< nor was one that is swapped out.
};

bool ParseHex(std::string_view text, std::uintptr_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return error == std::errc() && end == text.data() + text.size();
}

/// Reads the head of a mapping: "7f12-7f34 r-xp 00001000 fe:00 1234   /usr/lib/x.so".
bool ParseHead(std::string_view line, Mapping& mapping) {
  const std::size_t dash = line.find('-');
  const std::size_t space = line.find(' ');
  if (dash == std::string_view::npos || space == std::string_view::npos || dash > space) return false;
  mapping = {};
  if (!ParseHex(line.substr(0, dash), mapping.start)) return false;
  if (!ParseHex(line.substr(dash + 1, space - dash - 1), mapping.end)) return false;
  const std::string_view permissions = line.substr(space + 1, 4);
  const bool private_and_readable = permissions == "r--p" || permissions == "r-xp";
  mapping.is_file = private_and_readable && line.find(" /") != std::string_view::npos;
  return true;
}

std::vector<Mapping> Mappings() {
  std::vector<Mapping> mappings;
  std::ifstream smaps("/proc/self/smaps");
  Mapping head;
  for (std::string line; std::getline(smaps, line);) {
    if (ParseHead(line, head)) {
      mappings.push_back(head);
    } else if (!mappings.empty() && line.ends_with(" 0 kB")) {
      if (line.starts_with("Anonymous:")) mappings.back().no_pages = true;
      if (line.starts_with("Swap:")) mappings.back().no_swapped = true;
    }
  }
  return mappings;
}

}  // namespace

void ReleaseStartupMemory() {
  ::malloc_trim(0);
  for (const Mapping& mapping : Mappings()) {
    if (!mapping.is_file || !mapping.no_pages || !mapping.no_swapped) continue;
    // An address from /proc is a number; no pointer leads there.
    void* const start = reinterpret_cast<void*>(mapping.start);  // NOLINT
    ::madvise(start, mapping.end - mapping.start, MADV_DONTNEED);
  }
}

}  // namespace cnpa
