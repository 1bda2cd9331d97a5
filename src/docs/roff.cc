// SPDX-License-Identifier: Apache-2.0
#include "docs/roff.h"

#include <algorithm>

#include <fmt/core.h>

namespace cnpa {

namespace {

/// How long lines of the source may get: some tools still want to know.
constexpr std::size_t kWidth = 80;

/// Returns `text`, which is escaped, with line ends in place of some spaces.
std::string Wrap(const std::string& text) {
  std::string lines;
  std::size_t width = 0;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, end - start);
    const bool fits = width + 1 + word.size() <= kWidth;
    // A dot at the beginning of a line would be a macro; only the first one is guarded by Escape().
    const bool breaks = width > 0 && !fits && !word.starts_with('.');
    lines += (width == 0 ? "" : breaks ? "\n" : " ") + word;
    width = breaks || width == 0 ? word.size() : width + 1 + word.size();
    start = end + 1;
  }
  return lines;
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\': escaped += "\\e"; break;
      case '-': escaped += "\\-"; break;
      case '\'': escaped += "\\(aq"; break;
      case '`': escaped += "\\(ga"; break;
      case '^': escaped += "\\(ha"; break;
      case '~': escaped += "\\(ti"; break;
      case '"': escaped += "\\(dq"; break;
      default: escaped += c;
    }
  }
  // A dot at the beginning of a line would be a macro.
  return escaped.starts_with('.') ? "\\&" + escaped : escaped;
}

std::string Bold(std::string_view text) {
  return "\\fB" + Escape(text) + "\\fR";
}

std::string Italic(std::string_view text) {
  return "\\fI" + Escape(text) + "\\fR";
}

Roff::Roff(std::string_view name, int section, std::string_view date, std::string_view source,
           std::string_view manual) {
  std::string title;
  for (const char c : name) title += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  text_ = fmt::format(
      ".\\\" SPDX-License-Identifier: Apache-2.0\n"
      ".\\\" Made by cnpa-op-docs of the tables of commands and flags.\n"
      ".TH {} {} {} \"{}\" \"{}\"\n",
      Escape(title), section, date, Escape(source), manual);
}

void Roff::Section(std::string_view title) {
  text_ += fmt::format(".SH {}\n", title);
  begun_ = false;
}

void Roff::Subsection(std::string_view title) {
  text_ += fmt::format(".SS {}\n", Escape(title));
  begun_ = false;
}

void Roff::Paragraph(std::string_view text) {
  if (begun_) text_ += ".PP\n";
  Line(Wrap(Escape(text)));
}

void Roff::Item(const std::string& head, std::string_view text) {
  text_ += ".TP\n";
  Line(head);
  Line(Wrap(Escape(text)));
}

void Roff::ItemParagraph(std::string_view text) {
  text_ += ".IP\n";
  Line(Wrap(Escape(text)));
}

void Roff::Literal(std::string_view lines) {
  if (begun_) text_ += ".PP\n";
  text_ += ".in +4n\n.nf\n";
  std::size_t start = 0;
  while (start < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', start), lines.size());
    Line(Escape(lines.substr(start, end - start)));
    start = end + 1;
  }
  text_ += ".fi\n.in\n";
}

void Roff::Line(const std::string& line) {
  text_ += line + "\n";
  begun_ = true;
}

void Roff::Break() {
  text_ += ".br\n";
}

}  // namespace cnpa
