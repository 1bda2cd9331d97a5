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

/// Writes one JSON text, member by member. Inside an object each value has a key, inside an array none.
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
  void Null();
  void Key(std::string_view key);
  void String(std::string_view key, std::string_view value);
  void Int(std::string_view key, std::int64_t value);

  /// Returns what was written.
  std::string text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cnpa
