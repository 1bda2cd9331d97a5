// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // An empty input may come without an address, which no string_view should have.
  cnpa::Fuzz(size == 0 ? "" : std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
