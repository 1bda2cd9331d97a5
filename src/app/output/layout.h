// SPDX-License-Identifier: Apache-2.0
//
// Text for a terminal: pieces with their colours, and lines of them that fit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace cnpa {

/// How a piece of text stands out. Never the only sign of anything: who sees no colours misses nothing.
enum class Tone { kPlain, kBold, kDim, kRed, kGreen, kYellow, kBoldRed };

struct Piece {
  Piece(std::string_view words, Tone its_tone = Tone::kPlain) : text(Printable(words)), tone(its_tone) {}

  std::string text;  ///< Printable, whoever wrote it.
  Tone tone;

  bool operator==(const Piece&) const = default;
};
using Pieces = std::vector<Piece>;

/// Returns a piece of blanks.
Piece Blanks(std::size_t number);

/// Returns a symbol of a plan or of a finding in its colour: green for +, red for -.
Piece MarkPiece(char symbol);

/// Returns the text, with the escape sequences of its tones if `color`.
///
/// Source:  ECMA-48, SGR.
std::string Paint(const Pieces& pieces, bool color);

/// Returns `pieces` as lines of at most `width` columns each, at least one; the first of at most `first_width`, if that
/// is given, and empty if no word fits it. Lines break at blanks and beside wide characters, which need none; within a
/// word only if it would not fit a line of its own. Nothing is left out but blanks at the breaks. Requires: `width` is
/// 2 or more, `first_width` not more than that.
std::vector<Pieces> Wrap(const Pieces& pieces, std::size_t width, std::optional<std::size_t> first_width = {});

/// What a text is for.
struct ViewForm {
  bool color = false;
  std::optional<std::size_t> columns;  ///< Of the terminal; nothing: it is none, and each line is whole.
  bool aligned = true;                 ///< Words stand below each other, for eyes; else there is one blank before them.
};

/// Returns the command that `words` are or, behind a ": ", end with; empty where there is none.
std::string_view WayOut(std::string_view words);

/// Returns `head` and behind it `text`, as lines for `form`, of which all but the first are indented by `hang`. If one
/// line is not enough, a command at the end of `text` has one of its own, however long, so that it can be copied.
std::vector<std::string> Hang(const Pieces& head, const Pieces& text, std::size_t hang, const ViewForm& form);

/// Returns `head` and behind it `parts`, each of which begins a line: below each other at `column`, or, if `head` is
/// wider than that or it takes fewer lines, right behind `head` and on lines that are indented by `hang`.
std::vector<std::string> HangAt(const Pieces& head, std::size_t column, const std::vector<Pieces>& parts,
                                std::size_t hang, const ViewForm& form);

}  // namespace cnpa
