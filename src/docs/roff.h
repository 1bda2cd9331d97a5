// SPDX-License-Identifier: Apache-2.0
//
// A page for man's macros. Texts are plain and are escaped here, but for heads of items and lines, which may hold what
// Bold() and Italic() return.
#pragma once

#include <string>
#include <string_view>

namespace cnpa {

/// Returns `text` so that it is printed as it stands.
std::string Escape(std::string_view text);

std::string Bold(std::string_view text);
std::string Italic(std::string_view text);

class Roff {
 public:
  Roff(std::string_view name, int section, std::string_view date, std::string_view source, std::string_view manual);

  void Section(std::string_view title);
  void Subsection(std::string_view title);
  void Paragraph(std::string_view text);
  void Item(const std::string& head, std::string_view text);  ///< `head` is escaped already.
  void ItemParagraph(std::string_view text);                  ///< A further paragraph of the last item.
  void Literal(std::string_view lines);
  void Line(const std::string& line);  ///< `line` is escaped already.
  void Break();

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool begun_ = false;  ///< A paragraph of this section: the next one needs a distance.
};

}  // namespace cnpa
