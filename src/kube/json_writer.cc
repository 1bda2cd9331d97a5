// SPDX-License-Identifier: Apache-2.0
#include "kube/json_writer.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

namespace cnpa {

/// RapidJSON has two writers, one for each layout; both stand here and one is used.
class JsonWriter::Impl {
 public:
  explicit Impl(Layout layout) : compact_(layout == Layout::kCompact), plain_(buffer_), pretty_(buffer_) {
    pretty_.SetIndent(' ', 2);
  }

  template <typename Action>
  void Do(const Action& action) {
    compact_ ? action(plain_) : action(pretty_);
  }
  std::string text() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  bool compact_;
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> plain_;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> pretty_;
};

namespace {

rapidjson::SizeType Size(std::string_view text) {
  return static_cast<rapidjson::SizeType>(text.size());
}

}  // namespace

JsonWriter::JsonWriter(Layout layout) : impl_(std::make_unique<Impl>(layout)) {}
JsonWriter::~JsonWriter() = default;

void JsonWriter::Object(const std::function<void()>& members) {
  impl_->Do([](auto& writer) { writer.StartObject(); });
  members();
  impl_->Do([](auto& writer) { writer.EndObject(); });
}

void JsonWriter::Array(const std::function<void()>& elements) {
  impl_->Do([](auto& writer) { writer.StartArray(); });
  elements();
  impl_->Do([](auto& writer) { writer.EndArray(); });
}

void JsonWriter::Object(std::string_view key, const std::function<void()>& members) {
  Key(key);
  Object(members);
}

void JsonWriter::Array(std::string_view key, const std::function<void()>& elements) {
  Key(key);
  Array(elements);
}

void JsonWriter::String(std::string_view value) {
  impl_->Do([value](auto& writer) { writer.String(value.data(), Size(value)); });
}

void JsonWriter::Int(std::int64_t value) {
  impl_->Do([value](auto& writer) { writer.Int64(value); });
}

void JsonWriter::Double(double value) {
  impl_->Do([value](auto& writer) { writer.Double(value); });
}

void JsonWriter::Bool(bool value) {
  impl_->Do([value](auto& writer) { writer.Bool(value); });
}

void JsonWriter::Null() {
  impl_->Do([](auto& writer) { writer.Null(); });
}

void JsonWriter::Raw(std::string_view json) {
  impl_->Do([json](auto& writer) { writer.RawValue(json.data(), json.size(), rapidjson::kObjectType); });
}

void JsonWriter::Key(std::string_view key) {
  impl_->Do([key](auto& writer) { writer.Key(key.data(), Size(key)); });
}

void JsonWriter::String(std::string_view key, std::string_view value) {
  Key(key);
  String(value);
}

void JsonWriter::StringOrNull(std::string_view key, std::string_view value) {
  if (!value.empty()) return String(key, value);
  Key(key);
  Null();
}

void JsonWriter::Int(std::string_view key, std::int64_t value) {
  Key(key);
  Int(value);
}

void JsonWriter::Bool(std::string_view key, bool value) {
  Key(key);
  Bool(value);
}

std::string JsonWriter::text() const {
  return impl_->text();
}

}  // namespace cnpa
