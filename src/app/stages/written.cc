// SPDX-License-Identifier: Apache-2.0
#include "app/stages/written.h"

#include <utility>

#include "core/teamspace/kept.h"
#include "kube/codec/codec.h"

namespace cnpa {

Written HoldAgainst(const Chain& chain, const Change& change, Result<std::string> answer) {
  if (!answer) return {.status = tl::unexpected<Error>(std::move(answer).error()), .altered = {}};
  const ObjectRef object = ObjectOf(chain, change);
  const Result<Kept> kept = DecodeKept(change, *std::move(answer));
  if (!kept) {
    return {.status = Fail(ErrorCode::kUnavailable, object.Text() + ": was written, and the answer does not say how: " +
                                                        kept.error().message + ": the next pass will see"),
            .altered = {}};
  }
  std::vector<FieldChange> altered = ComputeAlterations(chain, change, *kept);
  if (altered.empty()) return {};
  Error error = AlterationError(object, altered);
  return {.status = tl::unexpected<Error>(std::move(error)), .altered = std::move(altered)};
}

}  // namespace cnpa
