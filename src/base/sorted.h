// SPDX-License-Identifier: Apache-2.0
//
// Vectors of objects that are sorted by one of their members.
#pragma once

#include <algorithm>
#include <string>

namespace cnpa {

/// Returns where in `objects`, a vector that is sorted by `member`, the first one stands whose member is not less than
/// `key`.
template <typename Vector, typename T>
auto LowerBound(Vector& objects, std::string T::*member, const std::string& key) {
  return std::lower_bound(objects.begin(), objects.end(), key,
                          [member](const T& object, const std::string& wanted) { return object.*member < wanted; });
}

}  // namespace cnpa
