// SPDX-License-Identifier: Apache-2.0
//
// The one door to RapidJSON for reading. A reader is sticky: read every field, look at Document::status()
// once at the end; the first thing that was wrong is kept, with its path. Absent and null are the same, as
// for the API server.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/document.h>

#include "base/result.h"
#include "core/objects/value.h"

namespace cnpa {

class JsonDocument;

/// A view of one value of a document, or of a value that is not there. Cheap to copy; a child must not
/// outlive the reader that it came from, nor either the document.
class JsonReader {
 public:
  /// Returns whether there is a value other than null.
  bool present() const { return value_ != nullptr; }

  /// Returns the member `key`; anything but an object there is an error. Reading below an absent object
  /// yields absent values, and an error for those that are required.
  JsonReader Object(std::string_view key) const;

  std::string String(std::string_view key) const;          ///< Required, not empty.
  std::string OptionalString(std::string_view key) const;  ///< "" when absent.
  std::optional<std::string> StringIfPresent(std::string_view key) const;
  std::optional<std::int64_t> IntIfPresent(std::string_view key) const;
  bool Has(std::string_view key) const;
  bool IsNull(std::string_view key) const;  ///< There is `key`, once, and it is `null`.
  bool IsTrue(std::string_view key) const;  ///< There is `key`, and it is `true`.

  /// Returns the member `key`, an object, as JSON text; "" when absent.
  std::string Json(std::string_view key) const;

  /// Returns the member `key` as objects, or as strings; empty when absent.
  std::vector<JsonReader> Objects(std::string_view key) const;
  std::vector<std::string> Strings(std::string_view key) const;

  /// Calls `visit` for each member of the object `key`; each must be a string.
  void EachString(std::string_view key, const std::function<void(std::string_view, std::string_view)>& visit) const;

  /// Returns the member `key` whatever it is, as a value of its own; null when absent.
  cnpa::Value Tree(std::string_view key) const;

  /// Returns whether `key` is an array with elements, or an object.
  bool HasMembers(std::string_view key) const;

  /// Returns whether `key` is an array of `count` zeros: what a ListSplitter leaves of a list's items.
  bool IsZeros(std::string_view key, std::size_t count) const;

  /// Calls `visit(key)` for each member of this object whatever it is.
  void EachKey(const std::function<void(std::string_view)>& visit) const;

  /// Notes that what was read here is wrong: "'<path of key>' <what>".
  void Fail(std::string_view key, std::string_view what) const;

 private:
  friend class JsonDocument;
  using Value = rapidjson::Value;

  JsonReader(JsonDocument* document, const Value* value, const JsonReader* parent, std::string_view key)
      : document_(document), value_(value), parent_(parent), key_(key) {}

  const Value* Find(std::string_view key) const;
  std::string PathOf(std::string_view key) const;

  JsonDocument* document_;
  const Value* value_;  ///< Null when absent.
  const JsonReader* parent_;
  std::string_view key_;
  std::size_t index_ = 0;
  bool in_array_ = false;
};

/// A parsed JSON text whose root is an object. Reuse one for many texts: its memory is kept.
class JsonDocument {
 public:
  JsonDocument();

  /// Parses `text` in place: `text` is overwritten and must outlive the readers. Invalid UTF-8 is refused.
  ///
  /// Errors:  kMalformed, with the place and RapidJSON's words.
  /// Requires: `text` nests no deeper than WithinDepth() allows.
  Status Parse(std::string& text);

  JsonReader root() { return {this, &document_, nullptr, {}}; }
  const Status& status() const { return status_; }

 private:
  friend class JsonReader;
  using Pool = rapidjson::MemoryPoolAllocator<>;
  using Document = rapidjson::GenericDocument<rapidjson::UTF8<>, Pool>;

  std::vector<char> memory_;  ///< What most documents fit in without asking the system.
  Pool pool_;
  Document document_;
  Status status_;
};

/// The deepest nesting of objects and arrays that is read. Deeper text is an attack or a fault, and recursion
/// ends there.
inline constexpr int kDeepestJson = 64;

/// Returns whether `text` nests at most kDeepestJson levels.
bool WithinDepth(std::string_view text);

/// Parses a text that no ListSplitter has looked at, in place.
///
/// Errors:  kMalformed, also when it nests too deep.
Status ParseWhole(JsonDocument& document, std::string& text);

}  // namespace cnpa
