// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <chrono>

namespace cnpa {

Time Now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace cnpa
