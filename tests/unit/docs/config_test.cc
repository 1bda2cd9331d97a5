// SPDX-License-Identifier: Apache-2.0
#include "docs/config.h"

#include <array>
#include <sstream>
#include <string>

#include "app/cli/command_line.h"
#include "app/cli/config_file.h"
#include "app/cli/options.h"
#include "docs/describe.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace cnpa {
namespace {

/// Returns the file with its keys, which stand behind a # without a space, counting.
std::string Uncommented() {
  std::istringstream file(ConfigFile());
  std::string text;
  for (std::string line; std::getline(file, line);) {
    const bool is_key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    text += line.substr(is_key ? 1 : 0) + "\n";
  }
  return text;
}

TEST_CASE("ConfigFile sets nothing as it stands", "[docs][config]") {
  const TempFolder folder;
  const auto settings = ReadConfigFile(folder.Write("config.yaml", ConfigFile()));
  REQUIRE(settings);
  CHECK(settings->empty());
}

TEST_CASE("ConfigFile has each key, with its default where there is one", "[docs][config]") {
  const TempFolder folder;
  const auto settings = ReadConfigFile(folder.Write("config.yaml", Uncommented()));
  REQUIRE(settings);
  CHECK(settings->size() == Keys().size());
  for (const Flag& key : Keys()) {
    CAPTURE(key.name);
    REQUIRE(settings->contains(std::string(key.name)));
    const std::vector<std::string>& values = settings->at(std::string(key.name)).values;
    if (!key.fallback.empty()) CHECK(values == std::vector{std::string(key.fallback)});
    Options options;
    for (const std::string& value : values) CHECK(ErrorOf(key.set(options, value)) == std::nullopt);
  }
}

TEST_CASE("ConfigFile with all of it uncommented is taken by the command line", "[docs][config]") {
  const TempFolder folder;
  const std::string path = folder.Write("config.yaml", Uncommented());
  const std::array arguments{"cnpa-op", "check", "--config", path.c_str()};
  const CommandLine line = ParseCommandLine(static_cast<int>(arguments.size()), arguments.data(), {});
  CHECK_FALSE(line.exit_code);
  CHECK(line.options.only == std::vector<std::string>{"alpha", "beta"});
}

TEST_CASE("ConfigFile has no line wider than 120 columns", "[docs][config]") {
  std::istringstream file(ConfigFile());
  for (std::string line; std::getline(file, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 120);
  }
}

}  // namespace
}  // namespace cnpa
