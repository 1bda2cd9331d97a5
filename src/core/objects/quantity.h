// SPDX-License-Identifier: Apache-2.0
//
// Kubernetes quantities, exactly: "500m", "0.5" and "0.50" are one value. Never text, never floating point.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cnpa {

__extension__ typedef __int128 Int128;  // NOLINT(modernize-use-using): `using` takes no __extension__.

/// An amount in thousandths of its base unit (core, byte or count).
struct Quantity {
  Int128 thousandths = 0;

  auto operator<=>(const Quantity&) const = default;
};

/// Parses a Kubernetes quantity such as "500m", "2Gi" or "1e3", rounded up (away from zero) to thousandths as
/// the API server keeps the values of a ResourceQuota. With a binary suffix ("8Ei") a number of 2^63 or more is
/// 2^63 - 1, as it is there.
///
/// Units:   thousandths of the base unit.
/// Errors:  kInvalid when `text` is not a quantity, is longer than 64 characters, has an exponent beyond +-24, or
///          does not fit into 127 bits. The bounds keep out values that stall an API server.
/// Source:  k8s.io/apimachinery/pkg/api/resource, Quantity.
Result<Quantity> ParseQuantity(std::string_view text);

}  // namespace cnpa
