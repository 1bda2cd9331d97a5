// SPDX-License-Identifier: Apache-2.0
#include "core/objects/value.h"

#include <algorithm>

namespace cnpa {
namespace {

bool IsPlainKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

/// Prints a value as JSON, for people.
struct Printer {
  std::string operator()(std::monostate /*null*/) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return std::to_string(value); }
  std::string operator()(const std::string& value) const { return Quoted(value); }

  std::string operator()(const Value::List& list) const {
    std::string text = "[";
    for (const Value& element : list) text += (text.size() == 1 ? "" : ",") + std::visit(*this, element.data);
    return text + "]";
  }

  std::string operator()(const Value::Map& map) const {
    std::string text = "{";
    for (const auto& [key, value] : map) {
      text += (text.size() == 1 ? "" : ",") + Quoted(key) + ":" + std::visit(*this, value.data);
    }
    return text + "}";
  }
};

}  // namespace

const Value* Value::Find(const std::string& key) const {
  const Map* members = map();
  if (members == nullptr) return nullptr;
  const auto found = members->find(key);
  return found == members->end() ? nullptr : &found->second;
}

std::string TextOf(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  return text != nullptr ? *text : std::visit(Printer{}, value.data);
}

std::string MemberPath(std::string_view path, std::string_view key) {
  const std::string text(path);
  return IsPlainKey(key) ? text + "." + std::string(key) : text + "['" + std::string(key) + "']";
}

}  // namespace cnpa
