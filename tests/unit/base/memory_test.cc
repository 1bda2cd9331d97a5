// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <fstream>
#include <stdexcept>
#include <string>

#include "base/time.h"
#include "support/catch.h"
#include "support/child.h"

namespace cnpa {
namespace {

/// Returns what this process holds of files, in kilobytes.
long FileKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stol(line.substr(8));
  }
  return -1;
}

/// Uses code and data of this program and of libraries, relocated ones too.
bool Works() {
  try {
    throw std::runtime_error(FormatDuration(std::chrono::milliseconds(1234)));
  } catch (const std::exception& error) {
    return error.what() == std::string("1.2 s");
  }
}

TEST_CASE("ReleaseStartupMemory gives back what is on disk, and nothing breaks", "[base][memory]") {
  const int code = ExitCodeOfChild([] {
    if (!Works()) return 1;
    const long before = FileKilobytes();
    ReleaseStartupMemory();
    const long after = FileKilobytes();
    if (!Works()) return 2;
    return after < before / 2 ? 0 : 3;
  });
  CHECK(code == 0);
}

}  // namespace
}  // namespace cnpa
