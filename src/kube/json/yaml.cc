// SPDX-License-Identifier: Apache-2.0
#include "kube/json/yaml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "base/text.h"
#include "kube/json/json_writer.h"

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
        value.quoted = node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str";
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
    std::vector<YamlMember> merged;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) return Fault(member.first, "a key is not a plain word");
      const std::string& key = member.first.Scalar();
      Copy copy = Do(member.second, depth + 1);
      if (!copy) return copy;
      if (key == "<<" && member.first.Tag() != "!") {
        // A map, or a list of maps, whose members are those of this one too.
        if (!copy->is_map() && !copy->is_sequence()) return Fault(member.first, "<< wants a map");
        Collect(*copy, merged);
        for (const YamlValue& item : copy->items) Collect(item, merged);
        continue;
      }
      if (!keys.insert(key).second) return Fault(member.first, key + ": stands here twice");
      value.members.push_back({key, LineOf(member.first.Mark()), *std::move(copy)});
    }
    for (YamlMember& member : merged) {
      if (keys.insert(member.key).second) value.members.push_back(std::move(member));
    }
    return value;
  }

  static void Collect(const YamlValue& map, std::vector<YamlMember>& members) {
    members.insert(members.end(), map.members.begin(), map.members.end());
  }

  std::size_t values_ = 0;
};

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool IsNullWord(std::string_view text) {
  return IsOneOf(text, {"", "~", "null", "Null", "NULL"});
}

/// Reads 12, -12, 0x1F, 0b11, 0o17 and 017, with '_' anywhere between.
std::optional<std::int64_t> ToInteger(std::string text) {
  std::erase(text, '_');
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.erase(0, 1);
  int base = 10;
  if (text.size() > 1 && text.front() == '0') {
    base = 8;
    for (const auto& [prefix, of_prefix] : {std::pair{"xX", 16}, {"bB", 2}, {"oO", 8}}) {
      if (text[1] != prefix[0] && text[1] != prefix[1]) continue;
      base = of_prefix;
      text.erase(0, 2);
      break;
    }
  }
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (text.empty() || text.front() == '-' || error != std::errc() || stop != end) return std::nullopt;
  return negative ? -number : number;
}

std::optional<double> ToDouble(std::string text) {
  std::erase(text, '_');
  if (text.starts_with('+')) text.erase(0, 1);
  const bool plain = text.find_first_of("0123456789") != std::string::npos &&
                     text.find_first_not_of("0123456789.eE+-") == std::string::npos;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (!plain || error != std::errc() || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

/// Writes a scalar without quotes as what it looks like.
///
/// Source:   gopkg.in/yaml.v2, resolve.
void WritePlain(JsonWriter& json, const YamlValue& value) {
  if (IsNullWord(value.scalar)) return json.Null();
  if (const YamlBool flag = ToBool(value); flag != YamlBool::kNone) return json.Bool(flag == YamlBool::kTrue);
  if (const std::optional<std::int64_t> integer = ToInteger(value.scalar)) return json.Int(*integer);
  if (const std::optional<double> number = ToDouble(value.scalar)) return json.Double(*number);
  json.String(value.scalar);
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

void Emit(YAML::Emitter& emitter, const YAML::Node& node) {
  if (node.IsMap()) {
    // An empty one has no block form.
    emitter << (node.size() == 0 ? YAML::Flow : YAML::Block) << YAML::BeginMap;
    for (const auto& member : node) {
      emitter << YAML::Key << member.first.Scalar() << YAML::Value;
      Emit(emitter, member.second);
    }
    emitter << YAML::EndMap;
  } else if (node.IsSequence()) {
    emitter << (node.size() == 0 ? YAML::Flow : YAML::Block) << YAML::BeginSeq;
    for (const auto& item : node) Emit(emitter, item);
    emitter << YAML::EndSeq;
  } else if (node.IsNull()) {
    emitter << YAML::Null;
  } else if (node.Tag() == "!") {
    // It was in quotes: whatever it looks like, it is a string.
    emitter << YAML::DoubleQuoted << node.Scalar();
  } else {
    emitter << node.Scalar();
  }
}

/// Escapes what a terminal would obey and yaml-cpp writes as it is. It can only stand within quotes, where all texts
/// are.
std::string Escaped(std::string_view yaml) {
  std::string escaped;
  for (Utf8Character next; !yaml.empty(); yaml.remove_prefix(next.bytes)) {
    next = FirstCharacter(yaml);
    if (next.code != '\n' && IsControl(next.code)) {
      escaped += fmt::format("\\u{:04X}", static_cast<std::uint32_t>(next.code));
    } else {
      escaped += yaml.substr(0, next.bytes);
    }
  }
  return escaped;
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

std::string JsonToYaml(const std::string& json) {
  try {
    YAML::Emitter emitter;
    Emit(emitter, YAML::Load(json));
    return Escaped(emitter.c_str()) + "\n";
  } catch (const YAML::Exception& exception) {
    return "# " + exception.msg + "\n";
  }
}

bool IsText(const YamlValue& value) {
  if (!value.is_scalar()) return false;
  return value.quoted || (!IsNullWord(value.scalar) && ToBool(value) == YamlBool::kNone && !ToInteger(value.scalar) &&
                          !ToDouble(value.scalar));
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
