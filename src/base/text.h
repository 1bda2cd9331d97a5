// SPDX-License-Identifier: Apache-2.0
//
// Text, and what becomes of text that others wrote: an answer of a server or a proxy, a plugin's last words, a file's
// name. It passes OneLine() where it enters, so that nothing behind that has to ask what is in it.
#pragma once

#include <cstddef>
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

inline constexpr char32_t kNoCharacter = 0xFFFD;  ///< Stands for a byte that is not UTF-8, as on the API server.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  ///< The same in UTF-8.

/// A character, or a byte that is none.
struct Utf8Character {
  char32_t code = 0;      ///< kNoCharacter for a byte that is not UTF-8.
  std::size_t bytes = 0;  ///< That it takes in the text.

  bool operator==(const Utf8Character&) const = default;
};

/// Returns the first character of `text`. Requires: it is not empty.
///
/// Source:  The Unicode Standard, table 3-7, Well-Formed UTF-8 Byte Sequences.
Utf8Character FirstCharacter(std::string_view text);

/// Returns whether a terminal or a reader may obey `code` rather than show it: C0, DEL, C1 (U+009B begins a sequence as
/// ESC [ does), separators of lines, and what turns the direction of writing.
bool IsControl(char32_t code);

/// Returns `text` as one line of valid UTF-8: a byte that is not UTF-8 is U+FFFD, a control character a blank.
std::string Printable(std::string_view text);

inline constexpr std::size_t kLongestWords = 300;

/// Returns what others say, fit to be logged, shown and stored: printable, without blanks around it, and of a text that
/// is longer than `most_bytes` both ends, with dots between: what is wrong often stands last.
std::string OneLine(std::string_view text, std::size_t most_bytes = kLongestWords);

/// Returns "1 team space", "5 team spaces", "5 passes".
std::string Count(std::size_t number, const std::string& noun);

}  // namespace cnpa
