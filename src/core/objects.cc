// SPDX-License-Identifier: Apache-2.0
#include "core/objects.h"

#include <algorithm>

namespace cnpa {

bool IsTeamSpaceName(std::string_view name) {
  constexpr std::size_t kLongest = 63 - kNamespacePrefix.size();
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > kLongest) return false;
  if (!alphanumeric(name.front()) || !alphanumeric(name.back())) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return alphanumeric(c) || c == '-'; });
}

}  // namespace cnpa
