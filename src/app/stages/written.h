// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/plan/change.h"

namespace cnpa {

/// What came of a write, or of its dry run.
struct Written {
  Status status;
  std::vector<FieldChange> altered;  ///< Set: it was answered well, and these are kept otherwise than they were sent.
};

/// Holds the answer to `change` against what was asked for.
///
/// Errors:  of `status`: that of `answer`; kInvalid for what was altered; kUnavailable for an answer that says nothing
///          of the object, since the write may have happened.
Written HoldAgainst(const Chain& chain, const Change& change, Result<std::string> answer);

}  // namespace cnpa
