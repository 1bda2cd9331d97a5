// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cnpa {

/// Returns whether `part` is somewhere in `text`.
inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline constexpr std::string_view kDots = " ...";

/// Returns `text`; when it is longer than `most_bytes`, the first of them, cut between two characters of UTF-8, with
/// kDots behind.
std::string Shortened(std::string text, std::size_t most_bytes);

}  // namespace cnpa
