// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "app/cli/config_file.h"
#include "app/cli/flags.h"
#include "app/cli/names.h"
#include "fuzz.h"
#include "support/temp_folder.h"

namespace cnpa {
namespace {

void FuzzFlag(const Flag& flag, const std::string& text) {
  Options options;
  const Status set = flag.set(options, text);
  RequireValueOr(ErrorCode::kInvalid, set);
  if (!set) return;
  if (flag.name == "timeout") Require(options.timeout >= std::chrono::seconds(1), "a timeout lasts");
  if (flag.name == "request-timeout") Require(options.request_timeout >= std::chrono::seconds(1), "a timeout lasts");
  if (flag.name == "concurrency") Require(options.concurrency >= 1 && options.concurrency <= 256, "1 to 256");
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Flag& flag : Flags()) names.emplace_back(flag.name);
  return names;
}

}  // namespace

void Fuzz(std::string_view text) {
  static const TempFolder kFolder;
  static const std::vector<std::string> kNames = Names();
  const std::string path = kFolder.Write("config.yaml", std::string(text));
  const Result<std::map<std::string, Setting>> settings = ReadConfigFile(path);
  RequireValueOr(ErrorCode::kInvalid, settings);
  if (!settings) {
    Require(settings.error().message.starts_with(path + ":"), "the error names the file and a line");
    return;
  }
  const auto lines = std::count(text.begin(), text.end(), '\n') + std::count(text.begin(), text.end(), '\r') + 1;
  for (const auto& [key, setting] : *settings) {
    Require(setting.line >= 1 && setting.line <= lines, "a setting stands in a line of the file");
    NearMatch(key, kNames);
    for (const Flag& flag : Flags()) {
      if (flag.name != key) continue;
      for (const std::string& value : setting.values) FuzzFlag(flag, value);
    }
  }
}

}  // namespace cnpa
