// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace cnpa {

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

std::vector<std::string> EnvironmentList() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

Environment EnvironmentFrom(const std::vector<std::string>& list) {
  std::map<std::string, std::string> variables;
  for (const std::string& variable : list) {
    const std::size_t equals = variable.find('=');
    if (equals != std::string::npos) variables.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second.empty()) return std::nullopt;
    return found->second;
  };
}

std::string OwnPath() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  // A link there, as to the version that is installed, goes on leading to the program after an upgrade.
  for (const std::string_view folder : kProgramFolders) {
    const std::filesystem::path place = std::filesystem::path(folder) / self.filename();
    if (std::filesystem::canonical(place, error) == self && !error) return place.string();
  }
  return self.string();
}

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "unknown";
  return name.data();
}

}  // namespace cnpa
