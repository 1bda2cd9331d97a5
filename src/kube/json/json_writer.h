// SPDX-License-Identifier: Apache-2.0
//
// The one door to RapidJSON for writing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace cnpa {

/// Writes one JSON text, member by member. Inside an object each value has a key, inside an array none. The text is
/// always UTF-8: a byte of a string that is none is U+FFFD. What a terminal might obey is escaped, so that a text can
/// be shown as it is and still has each value unchanged.
class JsonWriter {
 public:
  enum class Layout { kCompact, kIndented };

  explicit JsonWriter(Layout layout = Layout::kCompact);
  ~JsonWriter();
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;
  JsonWriter(JsonWriter&&) = delete;
  JsonWriter& operator=(JsonWriter&&) = delete;

  void Object(const std::function<void()>& members);
  void Array(const std::function<void()>& elements);
  void Object(std::string_view key, const std::function<void()>& members);
  void Array(std::string_view key, const std::function<void()>& elements);
  void String(std::string_view value);
  void Int(std::int64_t value);
  void Double(double value);  ///< Requires: it is finite.
  void Bool(bool value);
  void Null();
  void Raw(std::string_view json);  ///< A value that is JSON already.
  void Key(std::string_view key);
  void String(std::string_view key, std::string_view value);
  void StringOrNull(std::string_view key, std::string_view value);  ///< Null when it is empty.
  void Int(std::string_view key, std::int64_t value);
  void Bool(std::string_view key, bool value);

  /// Returns what was written.
  std::string text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cnpa
