// SPDX-License-Identifier: Apache-2.0
#include "kube/yaml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "kube/json_writer.h"

namespace cnpa {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kMostValues = 200000;

using Copy = tl::expected<YamlValue, YamlFault>;

int LineOf(const YAML::Mark& mark) {
  return mark.is_null() ? 0 : mark.line + 1;
}

tl::unexpected<YamlFault> Fault(const YAML::Node& node, std::string what) {
  return tl::unexpected<YamlFault>(YamlFault{LineOf(node.Mark()), std::move(what)});
}

/// Copies yaml-cpp's graph into a tree. An alias is a copy of what it names, so the tree may be far larger than the
/// text.
class Copier {
 public:
  Copy Do(const YAML::Node& node, int depth) {
    if (depth > kDeepest) return Fault(node, "it nests deeper than " + std::to_string(kDeepest) + " levels");
    if (++values_ > kMostValues) return Fault(node, "it is too large, perhaps by its aliases");
    YamlValue value;
    value.line = LineOf(node.Mark());
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null: return value;
      case YAML::NodeType::Scalar:
        value.kind = YamlValue::Kind::kScalar;
        value.scalar = node.Scalar();
        value.quoted = node.Tag() == "!";
        return value;
      case YAML::NodeType::Sequence: return Items(node, depth, std::move(value));
      case YAML::NodeType::Map: return Members(node, depth, std::move(value));
    }
    return value;
  }

 private:
  Copy Items(const YAML::Node& node, int depth, YamlValue value) {
    value.kind = YamlValue::Kind::kSequence;
    for (const YAML::Node& item : node) {
      Copy copy = Do(item, depth + 1);
      if (!copy) return copy;
      value.items.push_back(*std::move(copy));
    }
    return value;
  }

  Copy Members(const YAML::Node& node, int depth, YamlValue value) {
    value.kind = YamlValue::Kind::kMap;
    std::set<std::string> keys;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) return Fault(member.first, "a key is not a plain word");
      const std::string& key = member.first.Scalar();
      if (!keys.insert(key).second) return Fault(member.first, key + ": stands here twice");
      Copy copy = Do(member.second, depth + 1);
      if (!copy) return copy;
      value.members.push_back({key, LineOf(member.first.Mark()), *std::move(copy)});
    }
    return value;
  }

  std::size_t values_ = 0;
};

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// Writes a scalar without quotes as what it looks like.
void WritePlain(JsonWriter& json, const YamlValue& value) {
  const std::string& text = value.scalar;
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return json.Null();
  if (const YamlBool flag = ToBool(value); flag != YamlBool::kNone) return json.Bool(flag == YamlBool::kTrue);
  const char* const end = text.data() + text.size();
  std::int64_t integer = 0;
  const char* const digits = text.data() + (text.front() == '+' ? 1 : 0);
  if (const auto [stop, error] = std::from_chars(digits, end, integer); error == std::errc() && stop == end) {
    return json.Int(integer);
  }
  double number = 0;
  const auto [stop, error] = std::from_chars(digits, end, number);
  if (error == std::errc() && stop == end && std::isfinite(number)) return json.Double(number);
  json.String(text);
}

void Write(JsonWriter& json, const YamlValue& value) {
  switch (value.kind) {
    case YamlValue::Kind::kNull: return json.Null();
    case YamlValue::Kind::kScalar: return value.quoted ? json.String(value.scalar) : WritePlain(json, value);
    case YamlValue::Kind::kSequence:
      return json.Array([&] {
        for (const YamlValue& item : value.items) Write(json, item);
      });
    case YamlValue::Kind::kMap:
      return json.Object([&] {
        for (const YamlMember& member : value.members) {
          json.Key(member.key);
          Write(json, member.value);
        }
      });
  }
}

}  // namespace

const YamlValue& YamlValue::operator[](std::string_view key) const {
  static const YamlValue kNothing;
  const auto found =
      std::find_if(members.begin(), members.end(), [key](const YamlMember& member) { return member.key == key; });
  return found == members.end() ? kNothing : found->value;
}

tl::expected<YamlValue, YamlFault> ParseYaml(const std::string& text) {
  try {
    return Copier().Do(YAML::Load(text), 1);
  } catch (const YAML::Exception& exception) {
    return tl::unexpected<YamlFault>(YamlFault{LineOf(exception.mark), "not YAML: " + exception.msg});
  }
}

std::string YamlToJson(const YamlValue& value) {
  JsonWriter json;
  Write(json, value);
  return json.text();
}

YamlBool ToBool(const YamlValue& value) {
  if (!value.is_scalar() || value.quoted) return YamlBool::kNone;
  const std::string& text = value.scalar;
  if (IsOneOf(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"})) return YamlBool::kTrue;
  if (IsOneOf(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"})) {
    return YamlBool::kFalse;
  }
  return YamlBool::kNone;
}

}  // namespace cnpa
