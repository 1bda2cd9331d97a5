// SPDX-License-Identifier: Apache-2.0
#include "app/fight_file.h"
#include "fuzz/fuzz.h"

namespace cnpa {

void Fuzz(std::string_view text) {
  const Result<FightRecord> record = DecodeFights(std::string(text));
  RequireValueOr(ErrorCode::kMalformed, record);
  if (!record) return;
  Require(record->entries().size() <= FightRecord::kMostEntries, "a record is bounded");
  Require(DecodeFights(EncodeFights(*record)) == *record, "a record is read as it was written");
}

}  // namespace cnpa
