// SPDX-License-Identifier: Apache-2.0
//
// Two quantities, the first line and the rest. Their values are also worked out another way, in floating point.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "core/objects/quantity.h"
#include "core/teamspace/desired.h"
#include "fuzz.h"

namespace cnpa {
namespace {

/// Returns thousandths as a quantity that stands for exactly them.
std::string Write(Quantity quantity) {
  const bool negative = quantity.thousandths < 0;
  Int128 rest = negative ? -quantity.thousandths : quantity.thousandths;
  std::string digits;
  for (; rest != 0; rest /= 10) digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  return (negative ? "-" : "") + (digits.empty() ? "0" : digits) + "m";
}

long double ScaleOf(const std::string& suffix) {
  if (suffix.empty()) return 1;
  if (suffix.size() == 1) {
    constexpr const char* kDecimal = "num kMGTPE";
    return std::pow(10.0L, 3 * (static_cast<int>(std::strchr(kDecimal, suffix[0]) - kDecimal) - 3));
  }
  if (suffix.ends_with('i') && suffix.size() == 2) {
    constexpr const char* kBinary = " KMGTPE";
    return std::pow(1024.0L, static_cast<int>(std::strchr(kBinary, suffix[0]) - kBinary));
  }
  return std::pow(10.0L, std::strtol(suffix.c_str() + 1, nullptr, 10));
}

void RequireNear(const std::string& text, Quantity quantity) {
  const std::size_t end = std::min(text.find_first_not_of("+-.0123456789"), text.size());
  const std::string suffix = text.substr(end);
  long double want = std::strtold(text.substr(0, end).c_str(), nullptr) * ScaleOf(suffix) * 1000;
  // As the server has it, whatever the sign.
  if (suffix.ends_with('i')) want = std::copysign(std::min(std::fabs(want), std::ldexp(1000.0L, 63)), want);
  const auto value = static_cast<long double>(quantity.thousandths);
  const long double slack = std::fabs(want) * 1e-12L;
  Require(std::fabs(value) >= std::fabs(want) - slack, "never rounded towards zero");
  Require(std::fabs(value) <= std::fabs(want) + slack + 1, "rounded up by less than a thousandth");
}

void FuzzOne(const std::string& text, const Result<Quantity>& quantity) {
  RequireValueOr(ErrorCode::kInvalid, quantity);
  if (!quantity) {
    Require(!SameQuantity(text, text), "what is no quantity equals nothing");
    return;
  }
  Require(SameQuantity(text, Write(*quantity)), "a quantity that was written in thousandths is the same");
  RequireNear(text, *quantity);
  if (text.front() != '-' && text.front() != '+' && text.size() < 64) {
    Require(ParseQuantity("+" + text) == quantity, "a plus changes nothing");
    Require(ParseQuantity("-" + text) == Quantity{-quantity->thousandths}, "a minus negates");
  }
}

}  // namespace

void Fuzz(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string first(text.substr(0, end));
  const std::string second(text.substr(std::min(end + 1, text.size())));
  const Result<Quantity> left = ParseQuantity(first);
  const Result<Quantity> right = ParseQuantity(second);
  FuzzOne(first, left);
  FuzzOne(second, right);
  const bool same = left && right && *left == *right;
  Require(SameQuantity(first, second) == same && SameQuantity(second, first) == same, "SameQuantity compares values");
}

}  // namespace cnpa
