// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cnpa {

/// Random choices that are the same on every machine: the standard's distributions are not.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}

  /// Returns a number below `limit`.
  std::size_t Below(std::size_t limit) { return engine_() % limit; }

  /// Returns true once in `n` times.
  bool OneIn(std::size_t n) { return Below(n) == 0; }

  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(from.size())];
  }

  char Pick(std::string_view from) { return from[Below(from.size())]; }

  template <typename T>
  void Shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[Below(i)]);
  }

 private:
  std::mt19937 engine_;
};

}  // namespace cnpa
