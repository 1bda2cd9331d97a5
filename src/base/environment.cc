// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <array>
#include <climits>
#include <cstdlib>
#include <unistd.h>

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

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "unknown";
  return name.data();
}

}  // namespace cnpa
