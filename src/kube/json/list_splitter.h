// SPDX-License-Identifier: Apache-2.0
//
// Takes a Kubernetes list apart while its bytes arrive, so that only one item of it is in memory at a time.
// What remains is the list's envelope, `{"kind": ..., "metadata": {...}, "items": [0, 0, ...]}`, in which a 0
// stands for each item that was taken out: parsing it at the end proves that the list was whole and well formed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cnpa {

/// How much more of a list is taken, over all its pages: what is read takes memory. Five times the namespaces that
/// Kubernetes itself is meant for; 50,000 new TeamSpaces with all their writes take 360 MiB.
struct ListAllowance {
  std::size_t bytes = std::size_t{512} << 20U;
  std::size_t items = 50000;

  /// Takes off what has come.
  ///
  /// Errors:  kMalformed when it was more than is left.
  Status Take(std::size_t more_bytes, std::size_t more_items);
};

class ListSplitter {
 public:
  /// Gets the JSON text of each item, to parse in place. An error ends the list.
  using OnItem = std::function<Status(std::string& item)>;

  explicit ListSplitter(OnItem on_item) : on_item_(std::move(on_item)) {}

  /// Takes the next bytes of the list.
  ///
  /// Errors:  kMalformed for text nested too deep or an item or envelope too large; what `on_item` returns. After an
  ///          error nothing more may be fed.
  Status Feed(std::string_view bytes);

  /// Returns the envelope once all bytes were fed.
  ///
  /// Errors:  kMalformed when the list ends in the middle.
  Result<std::string> Finish();

  std::size_t items() const { return items_; }

 private:
  /// Takes a bracket within an item, where only the depth counts; returns false for any other.
  bool Nests(char bracket);
  Status Open(std::string_view bytes, std::size_t place);
  Status OpenOutside(std::string_view bytes, std::size_t place);
  Status Close(std::string_view bytes, std::size_t place);
  Status EndItem(std::string_view bytes, std::size_t end);
  /// Puts `bytes` up to `end` to the item or the envelope that they belong to: once for each, not for each mark in it.
  Status Take(std::string_view bytes, std::size_t end);
  Status Append(std::string_view bytes);
  bool AtItemsKey() const;
  bool MayBeginValue() const;  ///< Not so behind a '-', which would make a number of the 0 for an item.

  OnItem on_item_;
  std::string envelope_;
  std::string item_;
  std::size_t items_ = 0;
  int depth_ = 0;
  int items_depth_ = 0;    ///< The depth inside the array `items`, 0 outside of it.
  std::size_t taken_ = 0;  ///< Bytes of what is being fed that are in `item_` or `envelope_`.
  bool in_item_ = false;
  bool in_string_ = false;
  bool escaped_ = false;  ///< The last byte, inside a string, was a backslash.
};

}  // namespace cnpa
