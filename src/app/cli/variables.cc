// SPDX-License-Identifier: Apache-2.0
#include "app/cli/variables.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

#include "app/cli/flags.h"
#include "app/cli/help.h"
#include "app/cli/names.h"

namespace cnpa {
namespace {

constexpr std::string_view kPrefix = "CNPA_OP_";

/// Kubernetes sets the first two in every pod beside a Service that is called cnpa-op; the tests of cnpa-op set theirs.
constexpr std::array<std::string_view, 3> kOfOthers{"CNPA_OP_SERVICE_", "CNPA_OP_PORT", "CNPA_OP_TEST_"};

bool IsOfOthers(std::string_view name) {
  return std::any_of(kOfOthers.begin(), kOfOthers.end(),
                     [name](std::string_view set) { return name.starts_with(set); });
}

/// Returns why the variable `name` is ignored, or "" when it is not.
std::string WhyIgnored(const std::string& name) {
  std::vector<std::string> known{kConfigVariable};
  for (const Flag& flag : AllFlags()) {
    const std::string variable = EnvironmentName(flag);
    if (!flag.command_line_only) known.push_back(variable);
    if (flag.command_line_only && variable == name && name != kConfigVariable) {
      return fmt::format("--{} is for the command line only", flag.name);
    }
  }
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  const std::string near = NearMatch(name.substr(kPrefix.size()), [&known] {
    std::vector<std::string> rests;
    rests.reserve(known.size());
    for (const std::string& variable : known) rests.push_back(variable.substr(kPrefix.size()));
    return rests;
  }());
  return near.empty() ? "no flag has this variable" : fmt::format("did you mean '{}{}'?", kPrefix, near);
}

}  // namespace

Result<std::vector<std::string>> CheckVariables(const std::vector<std::string>& list) {
  std::vector<std::string> warnings;
  for (const std::string& variable : list) {
    const std::string name = variable.substr(0, variable.find('='));
    if (!name.starts_with(kPrefix) || IsOfOthers(name)) continue;
    if (const std::string why = WhyIgnored(name); !why.empty()) {
      warnings.push_back(fmt::format("ignoring {}: {}", name, why));
    } else if (variable.size() <= name.size() + 1) {
      return Fail(ErrorCode::kInvalid, name + ": must not be empty: unset it, or give it a value");
    }
  }
  std::sort(warnings.begin(), warnings.end());
  return warnings;
}

}  // namespace cnpa
