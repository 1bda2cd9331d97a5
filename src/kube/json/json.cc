// SPDX-License-Identifier: Apache-2.0
#include "kube/json/json.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "base/text.h"

namespace cnpa {
namespace {

constexpr std::size_t kPoolBytes = std::size_t{64} << 10U;

std::string_view Text(const rapidjson::Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

/// Returns whether all bytes of `text` are below 128. Such text is valid UTF-8, and a list is nearly always such: to
/// look at eight bytes at once takes a fiftieth of what RapidJSON's look at each character does.
bool IsAscii(std::string_view text) {
  std::uint64_t all = 0;
  std::uint64_t bytes = 0;
  for (; text.size() >= sizeof bytes; text.remove_prefix(sizeof bytes)) {
    std::memcpy(&bytes, text.data(), sizeof bytes);
    all |= bytes;
  }
  bytes = 0;
  std::memcpy(&bytes, text.data(), text.size());
  return ((all | bytes) & 0x8080808080808080U) == 0;
}

/// Returns whether a string in `text` has the escape of a low surrogate, \udc00 to \udfff, without a high one before
/// it. RapidJSON refuses a high one alone, but of a low one alone it makes three bytes that are not UTF-8.
bool HasLoneLowSurrogate(std::string_view text) {
  constexpr std::size_t kEscape = 6;  // Of \uXXXX.
  std::size_t i = text.find('\\');
  while (i != std::string_view::npos && i + kEscape <= text.size()) {
    const bool surrogate = text[i + 1] == 'u' && (text[i + 2] == 'd' || text[i + 2] == 'D') && text[i + 3] >= '8';
    const bool high = surrogate && (text[i + 3] <= '9' || (text[i + 3] | 0x20) <= 'b');
    if (surrogate && !high) return true;
    i = text.find('\\', i + (high ? 2 * kEscape : 2));
  }
  return false;
}

Value ToTree(const rapidjson::Value& value);

Value::Map ToMap(const rapidjson::Value& object) {
  Value::Map map;
  for (const auto& member : object.GetObject())
    map.insert_or_assign(std::string(Text(member.name)), ToTree(member.value));
  return map;
}

Value::List ToList(const rapidjson::Value& array) {
  Value::List list;
  list.reserve(array.Size());
  for (const rapidjson::Value& element : array.GetArray()) list.push_back(ToTree(element));
  return list;
}

/// Requires: the text was WithinDepth().
Value ToTree(const rapidjson::Value& value) {
  if (value.IsBool()) return {value.GetBool()};
  if (value.IsInt64()) return {value.GetInt64()};
  if (value.IsNumber()) return {value.GetDouble()};
  if (value.IsString()) return {std::string(Text(value))};
  if (value.IsObject()) return {ToMap(value)};
  if (value.IsArray()) return {ToList(value)};
  return {};
}

}  // namespace

const JsonReader::Value* JsonReader::Find(std::string_view key) const {
  if (value_ == nullptr) return nullptr;
  const Value* found = nullptr;
  for (auto member = value_->MemberBegin(); member != value_->MemberEnd(); ++member) {
    if (Text(member->name) != key) continue;
    // Some readers take the first, some the last: who sends two may mean something by it.
    if (found != nullptr) Fail(key, "is there twice");
    found = &member->value;
  }
  return found == nullptr || found->IsNull() ? nullptr : found;
}

std::string JsonReader::PathOf(std::string_view key) const {
  std::string path;
  if (parent_ != nullptr) {
    path = parent_->PathOf(key_);
    if (in_array_) path += "[" + std::to_string(index_) + "]";
  }
  if (key.empty()) return path;
  if (!path.empty()) path += '.';
  return path.append(key);
}

void JsonReader::Fail(std::string_view key, std::string_view what) const {
  if (!document_->status_) return;  // The first fault is the one to tell.
  document_->status_ = cnpa::Fail(ErrorCode::kMalformed, "'" + OneLine(PathOf(key)) + "' " + std::string(what));
}

JsonReader JsonReader::Object(std::string_view key) const {
  const Value* value = Find(key);
  if (value != nullptr && !value->IsObject()) {
    Fail(key, "is not an object");
    value = nullptr;
  }
  return {document_, value, this, key};
}

std::string JsonReader::String(std::string_view key) const {
  std::optional<std::string> text = StringIfPresent(key);
  if (!text || text->empty()) {
    Fail(key, "is missing");
    return {};
  }
  return *std::move(text);
}

std::string JsonReader::OptionalString(std::string_view key) const {
  return StringIfPresent(key).value_or(std::string());
}

std::optional<std::string> JsonReader::StringIfPresent(std::string_view key) const {
  const Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->IsString()) {
    Fail(key, "is not a string");
    return std::nullopt;
  }
  return std::string(Text(*value));
}

std::optional<std::int64_t> JsonReader::IntIfPresent(std::string_view key) const {
  const Value* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->IsInt64()) {
    Fail(key, "is not an integer of 64 bits");
    return std::nullopt;
  }
  return value->GetInt64();
}

std::string JsonReader::Json(std::string_view key) const {
  const JsonReader object = Object(key);
  if (!object.present()) return {};
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  object.value_->Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

bool JsonReader::Has(std::string_view key) const {
  return Find(key) != nullptr;
}

bool JsonReader::IsTrue(std::string_view key) const {
  const Value* value = Find(key);
  return value != nullptr && value->IsTrue();
}

std::vector<JsonReader> JsonReader::Objects(std::string_view key) const {
  std::vector<JsonReader> objects;
  const Value* value = Find(key);
  if (value == nullptr) return objects;
  if (!value->IsArray()) {
    Fail(key, "is not a list");
    return objects;
  }
  objects.reserve(value->Size());
  for (const Value& element : value->GetArray()) {
    JsonReader reader(document_, &element, this, key);
    reader.in_array_ = true;
    reader.index_ = objects.size();
    if (!element.IsObject()) {
      reader.Fail({}, "is not an object");
      return {};
    }
    objects.push_back(reader);
  }
  return objects;
}

std::vector<std::string> JsonReader::Strings(std::string_view key) const {
  std::vector<std::string> strings;
  const Value* value = Find(key);
  if (value == nullptr) return strings;
  if (!value->IsArray()) {
    Fail(key, "is not a list");
    return strings;
  }
  for (const Value& element : value->GetArray()) {
    if (!element.IsString()) {
      Fail(key, "holds something that is not a string");
      return {};
    }
    strings.emplace_back(Text(element));
  }
  return strings;
}

void JsonReader::EachString(std::string_view key,
                            const std::function<void(std::string_view, std::string_view)>& visit) const {
  const JsonReader object = Object(key);
  if (!object.present()) return;
  std::set<std::string_view> keys;
  for (const auto& member : object.value_->GetObject()) {
    if (!keys.insert(Text(member.name)).second) object.Fail(Text(member.name), "is there twice");
    if (!member.value.IsString()) {
      object.Fail(Text(member.name), "is not a string");
      return;
    }
    visit(Text(member.name), Text(member.value));
  }
}

cnpa::Value JsonReader::Tree(std::string_view key) const {
  const Value* value = Find(key);
  return value == nullptr ? cnpa::Value() : ToTree(*value);
}

bool JsonReader::HasMembers(std::string_view key) const {
  const Value* value = Find(key);
  if (value == nullptr) return false;
  if (value->IsArray()) return !value->Empty();
  if (value->IsObject()) return true;
  Fail(key, "is not a list");
  return false;
}

bool JsonReader::IsNull(std::string_view key) const {
  int nulls = 0;
  if (value_ == nullptr) return false;
  for (auto member = value_->MemberBegin(); member != value_->MemberEnd(); ++member) {
    if (Text(member->name) != key) continue;
    if (!member->value.IsNull()) return false;
    ++nulls;
  }
  return nulls == 1;
}

bool JsonReader::IsZeros(std::string_view key, std::size_t count) const {
  const Value* value = Find(key);
  if (value == nullptr || !value->IsArray() || value->Size() != count) return false;
  // Of two members of one name the other one would go unseen.
  const auto named = [key](const auto& member) { return Text(member.name) == key; };
  if (std::count_if(value_->MemberBegin(), value_->MemberEnd(), named) != 1) return false;
  const auto elements = value->GetArray();
  return std::all_of(elements.Begin(), elements.End(),
                     [](const Value& element) { return element.IsInt() && element.GetInt() == 0; });
}

void JsonReader::EachKey(const std::function<void(std::string_view)>& visit) const {
  if (value_ == nullptr) return;
  for (const auto& member : value_->GetObject()) visit(Text(member.name));
}

JsonDocument::JsonDocument() : memory_(kPoolBytes), pool_(memory_.data(), memory_.size()), document_(&pool_) {}

Status JsonDocument::Parse(std::string& text) {
  document_.SetNull();
  pool_.Clear();
  status_ = {};
  // In place, RapidJSON takes a NUL for the end, and what stands behind it would go unseen.
  if (text.find('\0') != std::string::npos) return status_ = Fail(ErrorCode::kMalformed, "not JSON: it holds a NUL");
  if (HasLoneLowSurrogate(text)) return status_ = Fail(ErrorCode::kMalformed, "not JSON: half a character is escaped");
  const bool ascii = IsAscii(text);
  // Where the text ends within a character, RapidJSON looks for its other bytes behind the end.
  text.append(3, '\0');
  if (ascii) {
    document_.ParseInsitu(text.data());
  } else {
    document_.ParseInsitu<rapidjson::kParseValidateEncodingFlag>(text.data());
  }
  if (document_.HasParseError()) {
    status_ = Fail(ErrorCode::kMalformed, "not JSON at byte " + std::to_string(document_.GetErrorOffset()) + ": " +
                                              rapidjson::GetParseError_En(document_.GetParseError()));
  } else if (!document_.IsObject()) {
    status_ = Fail(ErrorCode::kMalformed, "not a JSON object");
  }
  return status_;
}

bool WithinDepth(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDeepestJson) return false;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

Status ParseWhole(JsonDocument& document, std::string& text) {
  if (!WithinDepth(text)) return Fail(ErrorCode::kMalformed, "nested too deep");
  return document.Parse(text);
}

}  // namespace cnpa
