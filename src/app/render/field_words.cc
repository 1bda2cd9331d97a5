// SPDX-License-Identifier: Apache-2.0
#include "app/render/field_words.h"

#include <fmt/core.h>

#include "base/text.h"

namespace cnpa {
namespace {

constexpr std::size_t kLongestValue = 1200;  // More than a status can say; what a server has may be of megabytes.

/// The path as people say it: "pods" says it all where the object is a quota.
std::string ShortPath(std::string_view path) {
  constexpr std::string_view kLabels = "metadata.labels['";
  constexpr std::string_view kReady = "status.conditions['Ready']";
  if (path == "metadata.ownerReferences") return "ownerReference";
  if (path.starts_with(kLabels))
    return fmt::format("label {}", path.substr(kLabels.size(), path.size() - kLabels.size() - 2));
  if (path.starts_with(kReady)) return fmt::format("Ready{}", path.substr(kReady.size()));
  for (const std::string_view before : {std::string_view("spec.hard."), std::string_view("status.")}) {
    if (path.starts_with(before)) return std::string(path.substr(before.size()));
  }
  return std::string(path);
}

}  // namespace

std::string ValueWords(const std::optional<std::string>& value) {
  return value ? Shortened(*value, kLongestValue) : "none";
}

Pieces DifferenceOf(const FieldChange& field) {
  return {{ShortPath(field.path) + " ", Tone::kPlain},
          {ValueWords(field.from), Tone::kRed},
          {" -> ", Tone::kPlain},
          {ValueWords(field.to), Tone::kGreen}};
}

std::string Difference(const FieldChange& field) {
  return Paint(DifferenceOf(field), false);
}

}  // namespace cnpa
