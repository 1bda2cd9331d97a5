// SPDX-License-Identifier: Apache-2.0
#include "kube/api/retry.h"

#include <optional>
#include <string>

#include "support/catch.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{3600000};

Response Answer(const std::string& retry_after, const std::string& date = {}) {
  Response response;
  response.retry_after = retry_after;
  response.date = date;
  return response;
}

std::optional<milliseconds> Delay(double random, int attempt, const Response& answer = {}, milliseconds left = kLong) {
  Retries retries([random] { return random; });
  return retries.NoteFailureAndDelay(attempt, answer, left);
}

TEST_CASE("Retries waits a random part of a span that doubles with each attempt", "[kube][retry]") {
  CHECK(Delay(0, 0) == milliseconds(0));
  CHECK(Delay(0.5, 0) == milliseconds(125));
  CHECK(Delay(1, 0) == milliseconds(250));
  CHECK(Delay(1, 1) == milliseconds(500));
  CHECK(Delay(1, 2) == milliseconds(1000));
  CHECK(Delay(0.5, 3) == milliseconds(1000));
}

TEST_CASE("Retries follows Retry-After, and adds its random part", "[kube][retry]") {
  CHECK(Delay(0, 0, Answer("3")) == milliseconds(3000));
  CHECK(Delay(1, 0, Answer("3")) == milliseconds(3250));
  CHECK(Delay(0, 0, Answer("garbage")) == milliseconds(0));
}

TEST_CASE("Retries does not wait for what does not fit the time that is left", "[kube][retry]") {
  CHECK(Delay(0, 0, Answer("3"), milliseconds(3500)) == milliseconds(3000));
  CHECK(Delay(0, 0, Answer("3"), milliseconds(3499)) == std::nullopt);
  CHECK(Delay(1, 2, {}, milliseconds(1400)) == std::nullopt);
  CHECK(Delay(0, 0, Answer("99999999999999999999")) == std::nullopt);
}

TEST_CASE("Retries spends a budget of ten failures, of which ten successes earn one", "[kube][retry]") {
  Retries retries([] { return 0.0; });
  for (int i = 0; i < 9; ++i) CHECK(retries.NoteFailureAndDelay(0, {}, kLong));
  CHECK_FALSE(retries.exhausted());
  for (int i = 0; i < 10; ++i) retries.NoteSuccess();
  CHECK(retries.NoteFailureAndDelay(0, {}, kLong));
  CHECK_FALSE(retries.NoteFailureAndDelay(0, {}, kLong));
  CHECK(retries.exhausted());
}

TEST_CASE("Retries never has more than its full budget", "[kube][retry]") {
  Retries retries([] { return 0.0; });
  for (int i = 0; i < 1000; ++i) retries.NoteSuccess();
  for (int i = 0; i < 10; ++i) retries.NoteFailure();
  CHECK(retries.exhausted());
}

TEST_CASE("Retries draws its own numbers from [0, 1)", "[kube][retry]") {
  bool below = false;
  bool above = false;
  for (int i = 0; i < 200; ++i) {
    Retries retries;
    const std::optional<milliseconds> delay = retries.NoteFailureAndDelay(2, {}, kLong);
    REQUIRE(delay);
    REQUIRE((*delay >= milliseconds(0) && *delay < milliseconds(1000)));
    below = below || *delay < milliseconds(500);
    above = above || *delay >= milliseconds(500);
  }
  CHECK((below && above));
}

TEST_CASE("ParseRetryAfter reads seconds, and dates against the server's own clock", "[kube][retry]") {
  const std::string now = "Fri, 31 Dec 1999 23:59:50 GMT";
  CHECK(ParseRetryAfter(Answer("0")) == milliseconds(0));
  CHECK(ParseRetryAfter(Answer("120")) == milliseconds(120000));
  CHECK(ParseRetryAfter(Answer("-1")) == milliseconds(0));
  CHECK(ParseRetryAfter(Answer("Fri, 31 Dec 1999 23:59:59 GMT", now)) == milliseconds(9000));
  CHECK(ParseRetryAfter(Answer("Sat, 01 Jan 2000 00:00:00 GMT", now)) == milliseconds(10000));
  CHECK(ParseRetryAfter(Answer("Fri, 31 Dec 1999 23:59:40 GMT", now)) == milliseconds(0));
  CHECK(ParseRetryAfter(Answer("Fri, 31 Dec 1999 23:59:40 GMT")) == milliseconds(0));  // Long ago by our own clock.
  for (const char* none : {"", "1.5", "soon", "1 s", "Fri, 31 Dec 1999"}) {
    CAPTURE(none);
    CHECK(ParseRetryAfter(Answer(none)) == std::nullopt);
  }
}

}  // namespace
}  // namespace cnpa
