// SPDX-License-Identifier: Apache-2.0
#include "app/cli/config_file.h"

#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "base/file.h"
#include "base/writers.h"
#include "kube/json/yaml.h"

namespace cnpa {
namespace {

tl::unexpected<Error> At(const std::string& path, int line, const std::string& what) {
  return Fail(ErrorCode::kInvalid, fmt::format("{}:{}: {}", path, line, what));
}

Result<Setting> ReadSetting(const std::string& path, const YamlMember& member) {
  const YamlValue& value = member.value;
  const auto wrong = [&](int line, const char* what) {
    return At(path, line, fmt::format("{}: {}", member.key, what));
  };
  if (value.is_scalar()) return Setting{.values = {value.scalar}, .line = member.line};
  if (!value.is_sequence()) return wrong(member.line, "has no value");
  // Never "all": who writes `only: []` means none, or has a template without values.
  if (value.items.empty()) return wrong(member.line, "an empty list");
  Setting setting{.is_list = true, .line = member.line};
  for (const YamlValue& item : value.items) {
    if (!item.present()) return wrong(item.line > 0 ? item.line : member.line, "an item without a value");
    if (!item.is_scalar()) return wrong(item.line, item.is_map() ? "a map in a list" : "a list in a list");
    setting.values.push_back(item.scalar);
  }
  return setting;
}

Result<std::map<std::string, Setting>> ReadSettings(const std::string& path, const YamlValue& root) {
  std::map<std::string, Setting> settings;
  if (!root.present()) return settings;  // An empty file sets nothing.
  if (!root.is_map()) return At(path, root.line, "not a map of flags' names to values, such as 'timeout: 60s'");
  for (const YamlMember& member : root.members) {
    Result<Setting> setting = ReadSetting(path, member);
    if (!setting) return tl::unexpected<Error>(std::move(setting).error());
    settings.emplace(member.key, *std::move(setting));
  }
  return settings;
}

}  // namespace

Result<std::map<std::string, Setting>> ReadConfigFile(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  if (!text) return tl::unexpected<Error>(text.error());
  // It says which kubeconfig is used, and that names programs to run.
  if (::geteuid() == 0) {
    if (std::string others = DescribeOtherWriters(path); !others.empty()) {
      return Fail(ErrorCode::kInvalid, "configuration: " + std::move(others));
    }
  }
  const tl::expected<YamlValue, YamlFault> root = ParseYaml(*text);
  if (!root) return At(path, root.error().line, root.error().what);
  return ReadSettings(path, *root);
}

}  // namespace cnpa
