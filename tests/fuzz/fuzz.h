// SPDX-License-Identifier: Apache-2.0
//
// What the fuzz targets share. A target is one file x_fuzz.cc with a Fuzz() in it; entry.cc hands that to libFuzzer.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"

namespace cnpa {

/// Does with one input all that hostile bytes may do, and checks what must hold whatever they are.
void Fuzz(std::string_view text);

/// Ends the process unless `holds`: libFuzzer then keeps the input.
inline void Require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "not true: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// Checks that `result` is a value, or a failure of the one kind `code` that has words.
template <typename T>
void RequireValueOr(ErrorCode code, const Result<T>& result) {
  if (result) return;
  Require(result.error().code == code, "the error is of the kind that is promised");
  Require(!result.error().message.empty(), "the error has words");
}

inline void RequireOneLine(std::string_view text) {
  Require(Printable(text) == text, "one line of UTF-8 that no terminal obeys");
}

}  // namespace cnpa
