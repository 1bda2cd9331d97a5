// SPDX-License-Identifier: Apache-2.0
#include "app/cli/names.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

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

/// Source:   Levenshtein's distance, one row at a time.
std::size_t Distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t substituted = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
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

std::string NearMatch(std::string_view word, const std::vector<std::string>& words) {
  const std::string* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : words) {
    const std::size_t distance = Distance(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = &candidate;
    }
  }
  return nearest != nullptr ? *nearest : std::string();
}

}  // namespace cnpa
