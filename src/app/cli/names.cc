// SPDX-License-Identifier: Apache-2.0
#include "app/cli/names.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "app/cli/flags.h"
#include "core/objects/objects.h"

namespace cnpa {
namespace {

/// As kubectl has them: short, singular, plural, and with the group behind.
constexpr std::array<std::string_view, 3> kKinds{"ts", "teamspace", "teamspaces"};

bool IsKind(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const std::string_view group = kTeamSpaceApiVersion.substr(0, kTeamSpaceApiVersion.find('/'));
  return std::any_of(kKinds.begin(), kKinds.end(), [&](std::string_view kind) {
    return lower == kind || lower == fmt::format("{}.{}", kind, group);
  });
}

}  // namespace

std::string NameIn(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !IsKind(text.substr(0, slash))) return std::string(text);
  return std::string(text.substr(slash + 1));
}

std::string DescribeMissing(const std::string& name, const std::vector<std::string>& names) {
  const std::string missing = fmt::format("there is no TeamSpace '{}'", name);
  if (IsKind(name)) return missing + ": names stand alone, as in cnpa-op get alpha";
  // Who thinks of the namespace types its name.
  const std::string inner = name.starts_with(kNamespacePrefix) ? name.substr(kNamespacePrefix.size()) : name;
  const bool known = std::find(names.begin(), names.end(), inner) != names.end();
  const std::string near = known ? inner : NearMatch(name, names);
  return near.empty() ? missing : fmt::format("{}: did you mean '{}'?", missing, near);
}

}  // namespace cnpa
