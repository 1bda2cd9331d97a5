// SPDX-License-Identifier: Apache-2.0
#include "core/objects/quantity.h"

#include <algorithm>
#include <array>
#include <optional>

namespace cnpa {
namespace {

constexpr std::size_t kLongestText = 64;
constexpr int kLargestExponent = 24;
constexpr Int128 kLargest = ((Int128{1} << 126U) - 1) * 2 + 1;
/// What the server makes of a larger number with a binary suffix, in thousandths.
constexpr Int128 kLargestBinary = ((Int128{1} << 63U) - 1) * 1000;

/// A number before its scale is applied: digits * 10^decimal * 2^binary.
struct Scaled {
  Int128 digits = 0;
  int decimal = 0;
  int binary = 0;
};

struct Suffix {
  std::string_view text;
  int decimal;
  int binary;
};
constexpr std::array<Suffix, 16> kSuffixes{{
    {"", 0, 0},
    {"n", -9, 0},
    {"u", -6, 0},
    {"m", -3, 0},
    {"k", 3, 0},
    {"M", 6, 0},
    {"G", 9, 0},
    {"T", 12, 0},
    {"P", 15, 0},
    {"E", 18, 0},
    {"Ki", 0, 10},
    {"Mi", 0, 20},
    {"Gi", 0, 30},
    {"Ti", 0, 40},
    {"Pi", 0, 50},
    {"Ei", 0, 60},
}};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads "1", "1.5", "1." or ".5" at the front of `text` and takes it off.
std::optional<Scaled> TakeNumber(std::string_view& text) {
  Scaled number;
  bool point = false;
  bool any = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    if (c == '.' && !point) {
      point = true;
    } else if (IsDigit(c)) {
      any = true;
      if (number.digits > (kLargest - (c - '0')) / 10) return std::nullopt;
      number.digits = number.digits * 10 + (c - '0');
      if (point) --number.decimal;
    } else {
      break;
    }
  }
  if (!any) return std::nullopt;
  return number;
}

/// Reads the exponent of "e3", "E-3", "e+3": all of `text`.
std::optional<int> ParseExponent(std::string_view text) {
  text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  int exponent = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    exponent = exponent * 10 + (c - '0');
    if (exponent > kLargestExponent) return std::nullopt;
  }
  return negative ? -exponent : exponent;
}

bool ApplySuffix(std::string_view suffix, Scaled& number) {
  for (const Suffix& known : kSuffixes) {
    if (suffix == known.text) {
      number.decimal += known.decimal;
      number.binary = known.binary;
      return true;
    }
  }
  if (!suffix.starts_with('e') && !suffix.starts_with('E')) return false;
  const std::optional<int> exponent = ParseExponent(suffix);
  if (!exponent) return false;
  number.decimal += *exponent;
  return true;
}

/// Returns the number in thousandths, rounded up, or nothing when it does not fit.
std::optional<Int128> ToThousandths(const Scaled& number) {
  Int128 value = number.digits;
  if (value > (kLargest >> number.binary)) return std::nullopt;
  value <<= number.binary;
  int decimal = number.decimal + 3;
  for (; decimal > 0 && value != 0; --decimal) {
    if (value > kLargest / 10) return std::nullopt;
    value *= 10;
  }
  bool exact = true;
  for (; decimal < 0 && value != 0; ++decimal) {
    exact = exact && value % 10 == 0;
    value /= 10;
  }
  if (!exact) ++value;
  return number.binary > 0 ? std::min(value, kLargestBinary) : value;
}

}  // namespace

Result<Quantity> ParseQuantity(std::string_view text) {
  const auto invalid = [text] {
    return Fail(ErrorCode::kInvalid,
                "\"" + std::string(text.substr(0, kLongestText)) + "\" is not a quantity such as 500m, 2 or 1.5");
  };
  if (text.size() > kLongestText) return invalid();
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::optional<Scaled> number = TakeNumber(rest);
  if (!number || !ApplySuffix(rest, *number)) return invalid();
  const std::optional<Int128> thousandths = ToThousandths(*number);
  if (!thousandths) return invalid();
  return Quantity{negative ? -*thousandths : *thousandths};
}

}  // namespace cnpa
