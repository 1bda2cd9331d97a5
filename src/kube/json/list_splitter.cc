// SPDX-License-Identifier: Apache-2.0
#include "kube/json/list_splitter.h"

#include <cstring>
#include <utility>

#include "kube/json/json.h"
#include "kube/json/json_marks.h"

namespace cnpa {
namespace {

// An object in etcd has at most 1.5 MiB; as JSON it may grow a little.
constexpr std::size_t kLargestItemBytes = std::size_t{8} << 20U;
// 2 bytes an item and a few hundred for the rest: room for four million items.
constexpr std::size_t kLargestEnvelopeBytes = std::size_t{8} << 20U;

/// Returns `text` without the blanks at its end.
std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) text.remove_suffix(1);
  return text;
}

}  // namespace

Status ListAllowance::Take(std::size_t more_bytes, std::size_t more_items) {
  if (more_bytes > bytes) return Fail(ErrorCode::kMalformed, "the list is too large: it has more bytes than are taken");
  if (more_items > items)
    return Fail(ErrorCode::kMalformed, "the list is too large: it has more objects than are taken");
  bytes -= more_bytes;
  items -= more_items;
  return {};
}

Status ListSplitter::Feed(std::string_view bytes) {
  constexpr std::size_t kNone = std::string_view::npos;
  Status status;
  std::size_t escaped = escaped_ ? 0 : kNone;
  taken_ = 0;
  EachMark(bytes, [&](std::size_t place) {
    if (place == escaped) return true;
    const char c = bytes[place];
    if (c == '"') {
      in_string_ = !in_string_;
      return true;
    }
    if (c == '\\') {
      if (in_string_) escaped = place + 1;
      return true;
    }
    if (in_string_ || Nests(c)) return true;
    status = c == '{' || c == '[' ? Open(bytes, place) : Close(bytes, place);
    return status.has_value();
  });
  if (!status) return status;
  escaped_ = escaped == bytes.size();
  return Take(bytes, bytes.size());
}

bool ListSplitter::Nests(char bracket) {
  const int depth = bracket == '{' || bracket == '[' ? depth_ + 1 : depth_ - 1;
  if (!in_item_ || depth == items_depth_ || depth > kDeepestJson) return false;
  depth_ = depth;
  return true;
}

Status ListSplitter::Open(std::string_view bytes, std::size_t place) {
  if (!in_item_) {
    if (Status opened = OpenOutside(bytes, place); !opened) return opened;
  }
  if (++depth_ > kDeepestJson) return Fail(ErrorCode::kMalformed, "not a list: nested too deep");
  return {};
}

Status ListSplitter::OpenOutside(std::string_view bytes, std::size_t place) {
  const bool may_be_items = bytes[place] == '[' && depth_ == 1 && items_depth_ == 0;
  const bool is_item = bytes[place] == '{' && items_depth_ != 0 && depth_ == items_depth_;
  if (!may_be_items && !is_item) return {};
  if (Status taken = Take(bytes, place); !taken) return taken;
  if (may_be_items && AtItemsKey()) items_depth_ = 2;
  if (is_item && !MayBeginValue()) return Fail(ErrorCode::kMalformed, "not a list: something stands before an item");
  in_item_ = is_item;
  return {};
}

Status ListSplitter::Close(std::string_view bytes, std::size_t place) {
  if (--depth_ < 0) return Fail(ErrorCode::kMalformed, "not a list: a bracket too many");
  if (in_item_) return EndItem(bytes, place + 1);
  if (items_depth_ != 0 && depth_ < items_depth_) items_depth_ = -1;  // Behind the array; a second one is no items.
  return {};
}

Status ListSplitter::EndItem(std::string_view bytes, std::size_t end) {
  if (Status taken = Take(bytes, end); !taken) return taken;
  in_item_ = false;
  ++items_;
  if (Status status = on_item_(item_); !status) return status;
  item_.clear();
  return Append("0");
}

Status ListSplitter::Take(std::string_view bytes, std::size_t end) {
  const std::size_t begin = std::exchange(taken_, end);
  return Append(bytes.substr(begin, end - begin));
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
