// SPDX-License-Identifier: Apache-2.0
#include "app/pass/memory_file.h"
#include "fuzz.h"

namespace cnpa {

void Fuzz(std::string_view text) {
  const Result<PassMemory> memory = DecodeMemory(std::string(text));
  RequireValueOr(ErrorCode::kMalformed, memory);
  if (!memory) return;
  Require(memory->repairs.entries().size() <= FightRecord::kMostEntries, "repairs are bounded");
  Require(memory->setbacks.entries().size() <= SetbackRecord::kMostEntries, "setbacks are bounded");
  Require(DecodeMemory(EncodeMemory(*memory)) == *memory, "a memory is read as it was written");
}

}  // namespace cnpa
