// SPDX-License-Identifier: Apache-2.0
#include "app/stages/written.h"

#include <utility>

#include "core/plan/describe.h"
#include "core/plan/failure.h"
#include "kube/codec/codec.h"

namespace cnpa {

Written HoldAgainst(const Chain& chain, const Change& change, Result<std::string> answer) {
  if (!answer) return {.status = tl::unexpected<Error>(std::move(answer).error()), .altered = {}};
  const ObjectRef object = ObjectOf(chain, change);
  Result<std::vector<FieldChange>> altered = DecodeAlterations(chain, change, *std::move(answer));
  if (!altered) {
    return {.status = Fail(ErrorCode::kUnavailable, object.Text() + ": was written, and the answer does not say how: " +
                                                        altered.error().message + ": the next pass will see"),
            .altered = {}};
  }
  if (altered->empty()) return {};
  Error error = AlterationError(object, *altered);
  return {.status = tl::unexpected<Error>(std::move(error)), .altered = *std::move(altered)};
}

}  // namespace cnpa
