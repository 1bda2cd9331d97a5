// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("Fail makes a failure of any Result", "[base][result]") {
  const Result<int> number = Fail(ErrorCode::kNotFound, "no number");
  const Status status = Fail(ErrorCode::kDenied, "no entry");
  CHECK(ErrorOf(number) == Error{ErrorCode::kNotFound, "no number"});
  CHECK(ErrorOf(status) == Error{ErrorCode::kDenied, "no entry"});
}

TEST_CASE("Annotate puts the context in front and keeps the code", "[base][result]") {
  const Status inner = Annotate({ErrorCode::kConflict, "lost"}, "write quota");
  const Status outer = Annotate(inner.error(), "apply");
  CHECK(ErrorOf(outer) == Error{ErrorCode::kConflict, "apply: write quota: lost"});
}

TEST_CASE("Status is a success unless it says otherwise", "[base][result]") {
  CHECK(ErrorOf(Status()) == std::nullopt);
}

}  // namespace
}  // namespace cnpa
