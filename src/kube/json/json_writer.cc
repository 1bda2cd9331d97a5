// SPDX-License-Identifier: Apache-2.0
#include "kube/json/json_writer.h"

#include <fmt/format.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include "base/text.h"

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

/// Returns how JSON spells a character that can't stand for itself in a string.
std::string Escaped(char32_t code) {
  switch (code) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\b': return "\\b";
    case '\f': return "\\f";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return fmt::format("\\u{:04X}", static_cast<std::uint32_t>(code));
  }
}

/// Returns `text` as a string of JSON, which RapidJSON would write with whatever bytes it has.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (Utf8Character next; !text.empty(); text.remove_prefix(next.bytes)) {
    next = FirstCharacter(text);
    if (next.code == '"' || next.code == '\\' || IsControl(next.code)) {
      quoted += Escaped(next.code);
    } else {
      quoted += next.code == kNoCharacter ? kReplacement : text.substr(0, next.bytes);
    }
  }
  return quoted += '"';
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
  impl_->Do(
      [text = Quoted(value)](auto& writer) { writer.RawValue(text.data(), text.size(), rapidjson::kStringType); });
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
  String(key);
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
