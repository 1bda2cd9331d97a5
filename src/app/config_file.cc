// SPDX-License-Identifier: Apache-2.0
#include "app/config_file.h"

#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "base/file.h"
#include "base/writers.h"
#include "kube/yaml.h"

namespace cnpa {
namespace {

tl::unexpected<Error> At(const std::string& path, int line, const std::string& what) {
  return Fail(ErrorCode::kInvalid, fmt::format("{}:{}: {}", path, line, what));
}

Result<std::map<std::string, Setting>> ReadSettings(const std::string& path, const YamlValue& root) {
  std::map<std::string, Setting> settings;
  if (!root.present()) return settings;  // An empty file sets nothing.
  if (!root.is_map()) return At(path, root.line, "not a map of flags' names to values, such as 'timeout: 60s'");
  for (const YamlMember& member : root.members) {
    Setting setting{.values = {}, .line = member.line};
    if (member.value.is_scalar()) {
      setting.values.push_back(member.value.scalar);
    } else if (member.value.is_sequence()) {
      for (const YamlValue& element : member.value.items) {
        if (!element.is_scalar()) return At(path, element.line, fmt::format("{}: a list in a list", member.key));
        setting.values.push_back(element.scalar);
      }
    } else {
      return At(path, member.line, fmt::format("{}: has no value", member.key));
    }
    settings.emplace(member.key, std::move(setting));
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
