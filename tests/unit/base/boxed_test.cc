// SPDX-License-Identifier: Apache-2.0
#include "base/boxed.h"

#include <optional>
#include <utility>

#include "support/catch.h"

namespace cnpa {
namespace {

using Number = Boxed<int>;

TEST_CASE("Boxed is nothing until it is given a value", "[base][boxed]") {
  Number number;
  CHECK_FALSE(number);
  CHECK_FALSE(number.has_value());
  CHECK(number == std::nullopt);
  CHECK(std::optional<int>(number) == std::nullopt);
  number = 7;
  REQUIRE(number);
  CHECK(*number == 7);
  CHECK(std::optional<int>(number) == 7);
  number.reset();
  CHECK(number == Number());
  CHECK(Number(std::optional<int>()) == Number());
  CHECK(Number(std::optional<int>(8)) == Number(8));
}

TEST_CASE("Boxed is copied and compared by its value", "[base][boxed]") {
  Number number = 7;
  Number copy = number;
  CHECK(copy == number);
  *copy = 8;
  CHECK(*number == 7);
  CHECK_FALSE(copy == number);
  CHECK_FALSE(copy == Number());
  const Number& same = copy;
  copy = same;
  CHECK(*copy == 8);
  copy = number;
  CHECK(copy == number);
  copy = Number();
  CHECK_FALSE(copy);
  const Number moved = std::move(number);
  CHECK(*moved == 7);
}

}  // namespace
}  // namespace cnpa
