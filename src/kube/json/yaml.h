// SPDX-License-Identifier: Apache-2.0
//
// The one door to yaml-cpp: from text to a tree of plain values, in which nothing throws.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cnpa {

struct YamlMember;

/// A value of a YAML document. What is not there is the same as null.
struct YamlValue {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  std::string scalar;
  bool quoted = false;  ///< A scalar that is a string whatever it looks like.
  int line = 0;         ///< From 1 on.
  std::vector<YamlValue> items;
  std::vector<YamlMember> members;

  bool present() const { return kind != Kind::kNull; }
  bool is_map() const { return kind == Kind::kMap; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_sequence() const { return kind == Kind::kSequence; }

  /// Returns the member `key`, a null value when there is none or this is no map.
  const YamlValue& operator[](std::string_view key) const;
};

struct YamlMember {
  std::string key;
  int line = 0;
  YamlValue value;
};

/// Why a text is not taken.
struct YamlFault {
  int line = 0;  ///< From 1 on; 0: unknown.
  std::string what;
};

/// Parses the first document of `text`, null when it is empty.
///
/// Errors:  it is no YAML; a key stands twice in a map; it nests too deeply, or grows too large by its aliases.
tl::expected<YamlValue, YamlFault> ParseYaml(const std::string& text);

/// Returns `value` as JSON, plain scalars typed as Kubernetes' own reader does it: true, null, 1 and 1.5 are no
/// strings.
///
/// Source:  sigs.k8s.io/yaml, YAMLToJSON.
std::string YamlToJson(const YamlValue& value);

/// Returns a JSON text as YAML for people, a value a line.
///
/// Requires: `json` is JSON; what is not becomes a comment that says so.
std::string JsonToYaml(const std::string& json);

/// Returns whether `value` is a scalar that is a string: quoted, or not the looks of a number, a switch or null.
bool IsText(const YamlValue& value);

/// Returns what a scalar says as a switch; nothing when it is none.
///
/// Source:  YAML 1.1, bool; quoted it is a string.
enum class YamlBool { kNone, kFalse, kTrue };
YamlBool ToBool(const YamlValue& value);

}  // namespace cnpa
