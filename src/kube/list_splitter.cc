// SPDX-License-Identifier: Apache-2.0
#include "kube/list_splitter.h"

#include <array>
#include <cstring>

#include "kube/json.h"

namespace cnpa {
namespace {

// An object in etcd has at most 1.5 MiB; as JSON it may grow a little.
constexpr std::size_t kLargestItemBytes = std::size_t{8} << 20U;
// 2 bytes an item and a few hundred for the rest: room for four million items.
constexpr std::size_t kLargestEnvelopeBytes = std::size_t{8} << 20U;

constexpr std::array<bool, 256> kStructure = [] {
  std::array<bool, 256> table{};
  for (const char c : {'"', '{', '}', '[', ']'}) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

bool IsStructure(char c) {
  return kStructure[static_cast<unsigned char>(c)];
}

/// Returns `text` without the blanks at its end.
std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) text.remove_suffix(1);
  return text;
}

}  // namespace

Status ListSplitter::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t run = TakeRun(bytes);
    if (Status appended = Append(bytes.substr(0, run)); !appended) return appended;
    bytes.remove_prefix(run);
    if (bytes.empty()) break;
    if (Status taken = TakeStructure(bytes.front()); !taken) return taken;
    bytes.remove_prefix(1);
  }
  return {};
}

std::size_t ListSplitter::TakeRun(std::string_view bytes) {
  std::size_t i = 0;
  if (!in_string_) {
    while (i < bytes.size() && !IsStructure(bytes[i])) ++i;
    return i;
  }
  while (i < bytes.size()) {
    if (escaped_) {
      escaped_ = false;
    } else if (bytes[i] == '\\') {
      escaped_ = true;
    } else if (bytes[i] == '"') {
      return i;
    }
    ++i;
  }
  return i;
}

Status ListSplitter::TakeStructure(char c) {
  if (c == '"') {
    in_string_ = !in_string_;
    return Append({&c, 1});
  }
  if (c == '{' || c == '[') {
    if (c == '[' && depth_ == 1 && items_depth_ == 0 && AtItemsKey()) items_depth_ = 2;
    if (c == '{' && !in_item_ && items_depth_ != 0 && depth_ == items_depth_) {
      if (!MayBeginValue()) return Fail(ErrorCode::kMalformed, "not a list: something stands before an item");
      in_item_ = true;
    }
    if (++depth_ > kDeepestJson) return Fail(ErrorCode::kMalformed, "not a list: nested too deep");
    return Append({&c, 1});
  }
  if (--depth_ < 0) return Fail(ErrorCode::kMalformed, "not a list: a bracket too many");
  if (Status appended = Append({&c, 1}); !appended) return appended;
  if (in_item_ && depth_ == items_depth_) {
    in_item_ = false;
    ++items_;
    if (Status status = on_item_(item_); !status) return status;
    item_.clear();
    return Append("0");
  }
  if (items_depth_ != 0 && depth_ < items_depth_) items_depth_ = -1;  // Behind the array; a second one is no items.
  return {};
}

Status ListSplitter::Append(std::string_view bytes) {
  std::string& target = in_item_ ? item_ : envelope_;
  if (target.size() + bytes.size() > (in_item_ ? kLargestItemBytes : kLargestEnvelopeBytes)) {
    return Fail(ErrorCode::kMalformed,
                in_item_ ? "not a list: an item is too large" : "not a list: too much beside its items");
  }
  target.append(bytes);
  return {};
}

bool ListSplitter::AtItemsKey() const {
  std::string_view text = Trimmed(envelope_);
  if (!text.ends_with(':')) return false;
  text.remove_suffix(1);
  text = Trimmed(text);
  return text.ends_with("\"items\"") && !text.ends_with("\\\"items\"");
}

bool ListSplitter::MayBeginValue() const {
  const std::string_view text = Trimmed(envelope_);
  return text.ends_with('[') || text.ends_with(',');
}

Result<std::string> ListSplitter::Finish() {
  if (depth_ != 0 || in_string_ || envelope_.empty()) {
    return Fail(ErrorCode::kMalformed, envelope_.empty() ? "empty answer" : "the answer ends in the middle");
  }
  return std::move(envelope_);
}

}  // namespace cnpa
