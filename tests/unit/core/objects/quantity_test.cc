// SPDX-License-Identifier: Apache-2.0
#include "core/objects/quantity.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/random.h"

namespace cnpa {
namespace {

std::string ToText(Int128 value) {
  if (value == 0) return "0";
  std::string digits;
  for (Int128 rest = value < 0 ? -value : value; rest != 0; rest /= 10)
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  if (value < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

/// Returns the thousandths of `text`, or "refused".
std::string Thousandths(const std::string& text) {
  const Result<Quantity> quantity = ParseQuantity(text);
  return quantity ? ToText(quantity->thousandths) : "refused";
}

struct Case {
  std::string text;
  std::string want;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    DYNAMIC_SECTION("\"" << c.text << "\"") {
      CHECK(Thousandths(c.text) == c.want);
    }
  }
}

TEST_CASE("ParseQuantity reads every form of a number", "[core][quantity]") {
  Check({{"0", "0"},
         {"1", "1000"},
         {"+1", "1000"},
         {"-1", "-1000"},
         {"00012", "12000"},
         {"1.5", "1500"},
         {"1.0", "1000"},
         {"1.250", "1250"},
         {".5", "500"},
         {"5.", "5000"},
         {"+.5", "500"},
         {"-.5", "-500"},
         {"-0", "0"},
         {"0.0", "0"},
         {"2000", "2000000"},
         {"12345678.9", "12345678900"}});
}

TEST_CASE("ParseQuantity knows every suffix", "[core][quantity]") {
  Check({{"2000000n", "2"},
         {"2000u", "2"},
         {"500m", "500"},
         {"2k", "2000000"},
         {"2M", "2000000000"},
         {"2G", "2000000000000"},
         {"2T", "2000000000000000"},
         {"2P", "2000000000000000000"},
         {"2E", "2000000000000000000000"},
         {"1Ki", "1024000"},
         {"1Mi", "1048576000"},
         {"1Gi", "1073741824000"},
         {"1Ti", "1099511627776000"},
         {"1Pi", "1125899906842624000"},
         {"1Ei", "1152921504606846976000"},
         {"1.5Ki", "1536000"},
         {"0.5Gi", "536870912000"},
         {"-1.5Ki", "-1536000"},
         {"1.5m", "2"}});
}

TEST_CASE("ParseQuantity knows decimal exponents", "[core][quantity]") {
  Check({{"1e3", "1000000"},
         {"1E3", "1000000"},
         {"1e+3", "1000000"},
         {"1e-3", "1"},
         {"1e1", "10000"},
         {"1e0", "1000"},
         {"1.5e3", "1500000"},
         {".5e1", "5000"},
         {"5.e1", "50000"},
         {"1e003", "1000000"},
         {"1E", "1000000000000000000000"},
         {"1e24", "1000000000000000000000000000"},
         {"1e-24", "1"}});
}

TEST_CASE("ParseQuantity rounds up to thousandths, away from zero, as the server keeps a quota", "[core][quantity]") {
  Check({{"0.0001", "1"},
         {"100n", "1"},
         {"1u", "1"},
         {"1n", "1"},
         {"0.0015", "2"},
         {"0.001", "1"},
         {"0.0010000000000000000000000000000000001", "2"},
         {"1.2345678901", "1235"},
         {"-0.0001", "-1"},
         {"-0.0015", "-2"},
         {"0.0000000001", "1"},
         {"0.5m", "1"},
         {"1.0009765625Ki", "1025000"},
         {"0.0001Ki", "103"}});
}

TEST_CASE("ParseQuantity takes different texts of one value as equal", "[core][quantity]") {
  const std::vector<std::vector<std::string>> groups{
      {"0.5", "500m", ".5", "0.50", "+0.5", "5e-1", "500000u"},
      {"1", "1000m", "1.0", "+1", "1e0", "01", "1."},
      {"2000", "2k", "2e3", "2E3", "0.002M"},
      {"1Gi", "1024Mi", "1048576Ki", "1073741824"},
      {"1.5Gi", "1536Mi"},
      {"1M", "1000k"},
      {"1.5Ki", "1536"},
      {"10", "1e1"},
      {"1.25", "1.250"},
      {"0", "-0", "0Ei", "0.000", "0e24"},
  };
  for (const std::vector<std::string>& group : groups) {
    for (const std::string& text : group) {
      CAPTURE(group.front(), text);
      CHECK(ParseQuantity(text) == ParseQuantity(group.front()));
    }
  }
}

TEST_CASE("ParseQuantity refuses what is no quantity", "[core][quantity]") {
  for (const std::string text :
       {"",    " ",     " 1",   "1 ",   "abc",   "-",     "+",    ".",   "m",     "Ki",   "e3",  "1e",
        "1e+", "1E-",   "1ee3", "1e3m", "1e3.5", "1.2.3", "1..2", "--1", "+-1",   "1,5",  "1K",  "1ki",
        "1KI", "1mi",   "1Mb",  "1Bi",  "0x10",  "1_000", "1i",   "5i",  "1g",    "1 Gi", "NaN", "Inf",
        "1m ", "1.1.M", "1\n",  "١",    "1e３",  "1+1",   "1-",   "-1-", "1e1e1", "1EiB"}) {
    CAPTURE(text);
    CHECK(ErrorOf(ParseQuantity(text)) ==
          Error{ErrorCode::kInvalid, "\"" + text + "\" is not a quantity such as 500m, 2 or 1.5"});
  }
  CHECK_FALSE(ParseQuantity(std::string("1\0", 2)));
}

TEST_CASE("ParseQuantity bounds the exponent, which stalls an API server", "[core][quantity]") {
  for (const std::string text :
       {"1e25", "1e-25", "1E400", "1e400", "1e10000000000", "1e99999999999999999999", "0e25", "1e-99999999999"}) {
    CAPTURE(text);
    CHECK(ErrorOf(ParseQuantity(text)) ==
          Error{ErrorCode::kInvalid, "\"" + text + "\" is not a quantity such as 500m, 2 or 1.5"});
  }
}

TEST_CASE("ParseQuantity bounds the length, and quotes no more of it", "[core][quantity]") {
  CHECK(Thousandths(std::string(63, '0') + "7") == "7000");
  CHECK(ErrorOf(ParseQuantity(std::string(64, '0') + "7")) ==
        Error{ErrorCode::kInvalid, "\"" + std::string(64, '0') + "\" is not a quantity such as 500m, 2 or 1.5"});
}

TEST_CASE("ParseQuantity refuses what does not fit into 127 bits", "[core][quantity]") {
  Check({{"170141183460469231731687303715884105m", "170141183460469231731687303715884105"},
         {"170141183460469231731687303715884105", "170141183460469231731687303715884105000"},
         {"170141183460469231731687303715884105727m", "170141183460469231731687303715884105727"},
         {"170141183460469231731687303715884105728m", "refused"},
         {"170141183460469231731687303715884106", "refused"},
         {"-170141183460469231731687303715884106", "refused"},
         {"1000000000000000000Ei", "refused"},
         {"9999999999999999999E", "refused"},
         {"340282366920938463463374607431768211456m", "refused"}});
}

TEST_CASE("ParseQuantity caps what has a binary suffix at 2^63 - 1, as the server does", "[core][quantity]") {
  Check({{"8Ei", "9223372036854775807000"},
         {"7.9Ei", "9108079886394091110400"},
         {"9223372036854775807", "9223372036854775807000"},
         {"9223372036854775808", "9223372036854775808000"},
         {"9007199254740991.999Ki", "9223372036854775806976"},
         {"9007199254740992Ki", "9223372036854775807000"},
         {"-8Ei", "-9223372036854775807000"},
         {"100000000000Ei", "9223372036854775807000"}});
}

// An independent reference: numbers as decimal digit strings, so that neither its range nor its arithmetic
// is shared with the parser.

std::string Doubled(const std::string& digits) {
  std::string twice = digits;
  std::reverse(twice.begin(), twice.end());
  int carry = 0;
  for (char& digit : twice) {
    const int sum = 2 * (digit - '0') + carry;
    digit = static_cast<char>('0' + sum % 10);
    carry = sum / 10;
  }
  if (carry != 0) twice += '1';
  std::reverse(twice.begin(), twice.end());
  return twice;
}

std::string Incremented(std::string digits) {
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    if (*digit != '9') {
      ++*digit;
      return digits;
    }
    *digit = '0';
  }
  return "1" + digits;
}

std::string Stripped(const std::string& digits) {
  const std::size_t first = digits.find_first_not_of('0');
  return first == std::string::npos ? "0" : digits.substr(first);
}

/// Compares two numbers without leading zeros.
bool Less(const std::string& left, const std::string& right) {
  return left.size() != right.size() ? left.size() < right.size() : left < right;
}

/// A text of the grammar, in its parts.
struct Parts {
  bool negative = false;
  std::string whole;
  std::string fraction;
  std::string suffix;
  int ten = 0;  // power that the suffix stands for
  int two = 0;
  std::string text;
};

const std::string kMostBinary = "9223372036854775807000";             // (2^63 - 1) * 1000
const std::string kMost = "170141183460469231731687303715884105727";  // 2^127 - 1

/// What the parser must answer: a number, "refused", or "" where a bound is so near that both will do.
std::string Expected(const Parts& parts) {
  if (parts.text.size() > 64 || std::abs(parts.ten) > 24) return "refused";
  std::string digits = Stripped(parts.whole + parts.fraction);
  const auto too_large = [](const std::string& number) { return Less(kMost, number); };
  if (too_large(digits)) return "refused";
  if (Less(kMost.substr(0, 37) + "00", digits)) return "";
  for (int i = 0; i < parts.two; ++i) digits = Doubled(digits);
  if (too_large(Stripped(digits))) return "refused";
  const int shift = parts.ten + 3 - static_cast<int>(parts.fraction.size());
  if (shift >= 0) {
    if (digits != "0") digits += std::string(static_cast<std::size_t>(shift), '0');
  } else {
    const auto cut = static_cast<std::size_t>(-shift);
    digits = std::string(cut, '0') + digits;
    const std::string dropped = digits.substr(digits.size() - cut);
    digits.resize(digits.size() - cut);
    if (digits.empty()) digits = "0";
    if (dropped.find_first_not_of('0') != std::string::npos) digits = Incremented(digits);
  }
  digits = Stripped(digits);
  if (too_large(digits)) return "refused";
  if (parts.two > 0 && Less(kMostBinary, digits)) digits = kMostBinary;
  return parts.negative && digits != "0" ? "-" + digits : digits;
}

std::string RandomDigits(Random& random, std::size_t most) {
  std::string digits(random.Below(most + 1), '0');
  if (random.OneIn(8)) return digits;
  for (char& digit : digits) digit = random.Pick("0123456789");
  return digits;
}

Parts RandomParts(Random& random) {
  struct Power {
    int ten;
    int two;
  };
  static const std::map<std::string, Power> kPowers{{"", {0, 0}},    {"n", {-9, 0}},  {"u", {-6, 0}},  {"m", {-3, 0}},
                                                    {"k", {3, 0}},   {"M", {6, 0}},   {"G", {9, 0}},   {"T", {12, 0}},
                                                    {"P", {15, 0}},  {"E", {18, 0}},  {"Ki", {0, 10}}, {"Mi", {0, 20}},
                                                    {"Gi", {0, 30}}, {"Ti", {0, 40}}, {"Pi", {0, 50}}, {"Ei", {0, 60}}};
  Parts parts;
  const std::string sign = random.Pick(std::vector<std::string>{"", "", "", "+", "-"});
  parts.negative = sign == "-";
  const std::size_t most = random.OneIn(4) ? 44 : 12;
  do {
    parts.whole = RandomDigits(random, most);
    parts.fraction = random.OneIn(2) ? "" : RandomDigits(random, most);
  } while (parts.whole.empty() && parts.fraction.empty());
  if (random.OneIn(4)) {
    const int exponent = static_cast<int>(random.Below(29));
    const bool minus = random.OneIn(2);
    parts.ten = minus ? -exponent : exponent;
    parts.suffix = std::string(1, random.Pick("eE")) +
                   (minus             ? "-"
                    : random.OneIn(2) ? "+"
                                      : "") +
                   std::to_string(exponent);
  } else {
    auto power = kPowers.begin();
    std::advance(power, static_cast<std::ptrdiff_t>(random.Below(kPowers.size())));
    parts.suffix = power->first;
    parts.ten = power->second.ten;
    parts.two = power->second.two;
  }
  const bool point = !parts.fraction.empty() || random.OneIn(8);
  parts.text = sign + parts.whole + (point ? "." : "") + parts.fraction + parts.suffix;
  return parts;
}

TEST_CASE("ParseQuantity agrees with arithmetic on digit strings for any text of the grammar",
          "[core][quantity][property]") {
  Random random(3);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    const Parts parts = RandomParts(random);
    const std::string want = Expected(parts);
    if (want.empty()) continue;
    ++(want == "refused" ? refused : accepted);
    const std::string got = Thousandths(parts.text);
    if (got == want) continue;
    CAPTURE(parts.text);
    CHECK(got == want);
  }
  CHECK(accepted > 10000);
  CHECK(refused > 1000);
}

TEST_CASE("ParseQuantity orders as the digit strings do", "[core][quantity][property]") {
  Random random(4);
  const auto less = [](const std::string& left, const std::string& right) {
    const bool left_negative = left.starts_with('-');
    const bool right_negative = right.starts_with('-');
    if (left_negative != right_negative) return left_negative;
    return left_negative ? Less(right.substr(1), left.substr(1)) : Less(left, right);
  };
  for (int i = 0; i < 5000; ++i) {
    const Parts left = RandomParts(random);
    const Parts right = random.OneIn(10) ? left : RandomParts(random);
    const Result<Quantity> left_value = ParseQuantity(left.text);
    const Result<Quantity> right_value = ParseQuantity(right.text);
    if (!left_value || !right_value) continue;
    CAPTURE(left.text, right.text);
    REQUIRE((left_value->thousandths < right_value->thousandths) == less(Expected(left), Expected(right)));
    REQUIRE((*left_value == *right_value) == (Expected(left) == Expected(right)));
  }
}

TEST_CASE("ParseQuantity reads back what its value says in thousandths", "[core][quantity][property]") {
  Random random(5);
  for (int i = 0; i < 5000; ++i) {
    const Parts parts = RandomParts(random);
    const Result<Quantity> value = ParseQuantity(parts.text);
    if (!value ||
        Less(kMost.substr(0, 37) + "00", ToText(value->thousandths < 0 ? -value->thousandths : value->thousandths)))
      continue;
    CAPTURE(parts.text);
    REQUIRE(ParseQuantity(ToText(value->thousandths) + "m") == value);
  }
}

TEST_CASE("ParseQuantity takes the texts of the grammar and no others", "[core][quantity][property]") {
  const std::regex grammar(
      R"([+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([numkMGTPE]?|[KMGTPE]i|[eE][+-]?0*([0-9]|1[0-9]|2[0-4])))");
  Random random(6);
  std::size_t valid = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text(1 + random.Below(6), '0');
    for (char& c : text) c = random.Pick("0123456789.+-eEKMGTPinumk ");
    const bool want = std::regex_match(text, grammar);
    if (want) ++valid;
    if (ParseQuantity(text).has_value() == want) continue;
    CAPTURE(text);
    CHECK(ParseQuantity(text).has_value() == want);
  }
  CHECK(valid > 1000);
}

}  // namespace
}  // namespace cnpa
