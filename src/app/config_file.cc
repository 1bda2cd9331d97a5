// SPDX-License-Identifier: Apache-2.0
#include "app/config_file.h"

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include "base/file.h"

namespace cnpa {
namespace {

tl::unexpected<Error> At(const std::string& path, int line, const std::string& what) {
  return Fail(ErrorCode::kInvalid, fmt::format("{}:{}: {}", path, line, what));
}

Result<std::map<std::string, Setting>> ReadSettings(const std::string& path, const YAML::Node& root) {
  std::map<std::string, Setting> settings;
  if (root.IsNull()) return settings;  // An empty file sets nothing.
  if (!root.IsMap())
    return At(path, root.Mark().line + 1, "not a map of flags' names to values, such as 'timeout: 60s'");
  for (const auto& member : root) {
    const int line = member.first.Mark().line + 1;
    const std::string key = member.first.IsScalar() ? member.first.Scalar() : "";
    Setting setting{.values = {}, .line = line};
    if (member.second.IsScalar()) {
      setting.values.push_back(member.second.Scalar());
    } else if (member.second.IsSequence()) {
      for (const YAML::Node& element : member.second) {
        if (!element.IsScalar()) return At(path, element.Mark().line + 1, fmt::format("{}: a list in a list", key));
        setting.values.push_back(element.Scalar());
      }
    } else {
      return At(path, line, fmt::format("{}: has no value", key));
    }
    if (!settings.emplace(key, std::move(setting)).second)
      return At(path, line, fmt::format("{}: stands here twice", key));
  }
  return settings;
}

}  // namespace

Result<std::map<std::string, Setting>> ReadConfigFile(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  if (!text) return tl::unexpected<Error>(text.error());
  try {
    return ReadSettings(path, YAML::Load(*text));
  } catch (const YAML::Exception& exception) {
    return At(path, exception.mark.line + 1, "not YAML: " + exception.msg);
  }
}

}  // namespace cnpa
