// SPDX-License-Identifier: Apache-2.0
//
// Names of team spaces as people type them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cnpa {

/// Returns the name in `text`, without the kind that kubectl and `get -o name` put before it: "alpha" of "ts/alpha" and
/// of "teamspace.platform.labhub.io/alpha". Any other text is returned as it is.
std::string NameIn(std::string_view text);

/// Returns that there is no TeamSpace `name`, with what was perhaps meant: one of `names`, or, when `name` is a kind,
/// that names stand alone.
std::string DescribeMissing(const std::string& name, const std::vector<std::string>& names);

/// Returns the element of `words` nearest to `word`, or "" when none is near enough to be meant.
std::string NearMatch(std::string_view word, const std::vector<std::string>& words);

}  // namespace cnpa
