// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cnpa {

/// One function object of several lambdas, for std::visit to choose from.
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace cnpa
