// SPDX-License-Identifier: Apache-2.0
//
// A JSON value: parts of objects that are compared and sent as they are, whatever their schema.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cnpa {

struct Value {
  using List = std::vector<Value>;
  using Map = std::map<std::string, Value>;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> data;  ///< monostate is null.

  const List* list() const { return std::get_if<List>(&data); }
  const Map* map() const { return std::get_if<Map>(&data); }

  /// Returns the member `key`; null: there is none, or this is no map.
  const Value* Find(const std::string& key) const;

  bool operator==(const Value&) const = default;
};

/// Returns a value for people: a string as it is, all else as JSON.
std::string TextOf(const Value& value);

/// Returns `path` with `key` behind it, as kubectl spells it: "spec.names", "metadata.labels['a.b/c']".
std::string MemberPath(std::string_view path, std::string_view key);

}  // namespace cnpa
