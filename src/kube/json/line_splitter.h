// SPDX-License-Identifier: Apache-2.0
//
// Takes a stream of JSON documents, one a line, apart while its bytes arrive.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cnpa {

class LineSplitter {
 public:
  /// Gets each line without its newline, to parse in place. An error ends the stream.
  using OnLine = std::function<Status(std::string& line)>;

  explicit LineSplitter(OnLine on_line) : on_line_(std::move(on_line)) {}

  /// Takes the next bytes. Empty lines are passed over.
  ///
  /// Errors:  kMalformed for a line that is too long; what `on_line` returns. After an error nothing more may be fed.
  Status Feed(std::string_view bytes);

 private:
  OnLine on_line_;
  std::string line_;  ///< Its beginning, until the rest has come.
};

}  // namespace cnpa
