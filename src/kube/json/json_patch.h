// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "kube/json/json_writer.h"

namespace cnpa {

/// The operations of one JSON Patch.
///
/// Source:   RFC 6902.
class JsonPatch {
 public:
  using Value = std::function<void(JsonWriter&)>;

  explicit JsonPatch(JsonWriter& writer) : writer_(writer) {}

  void Test(std::string_view path, const Value& value) { Operation("test", path, value); }
  void Test(std::string_view path, std::string_view text) {
    Test(path, [text](JsonWriter& w) { w.String(text); });
  }
  /// Holds where nothing is at `path`.
  void TestAbsent(std::string_view path) {
    Test(path, [](JsonWriter& w) { w.Null(); });
  }
  void Add(std::string_view path, const Value& value) { Operation("add", path, value); }
  void Add(std::string_view path, std::string_view text) {
    Add(path, [text](JsonWriter& w) { w.String(text); });
  }
  void Replace(std::string_view path, const Value& value) { Operation("replace", path, value); }
  void Remove(std::string_view path) { Operation("remove", path, nullptr); }

 private:
  void Operation(std::string_view op, std::string_view path, const Value& value);

  JsonWriter& writer_;
};

/// Returns a patch that does nothing unless the object's uid is `uid`.
std::string PatchText(std::string_view uid, const std::function<void(JsonPatch&)>& operations);

}  // namespace cnpa
