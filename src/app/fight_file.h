// SPDX-License-Identifier: Apache-2.0
//
// The record of repairs between two passes, in a folder that goes with the machine's next start. Nothing depends on
// it: whatever is wrong with the file, it is as if nothing had been repaired before.
#pragma once

#include <string>

#include "base/environment.h"
#include "base/result.h"
#include "core/fights.h"

namespace cnpa {

/// Returns the folder for what outlives a pass but no restart: where systemd says, /run/cnpa-op for root, else below
/// $XDG_RUNTIME_DIR. Empty where there is none.
std::string DefaultRuntimeFolder(const Environment& environment, bool is_root);

/// Reads `repairs.json` in `folder`. A file that is not there is an empty record.
///
/// Errors:  kInvalid for what is no file of ours alone, or can't be read; kMalformed.
Result<FightRecord> LoadFights(const std::string& folder);

/// Puts `record` in its place, readable for us alone. Two passes at once may lose a repair of one of them. The folder
/// is made where only it lacks.
///
/// Errors:  kInvalid: what could not be done; then nothing has changed.
Status SaveFights(const std::string& folder, const FightRecord& record);

/// Returns the text of the file.
std::string EncodeFights(const FightRecord& record);

/// Errors:  kMalformed.
Result<FightRecord> DecodeFights(std::string text);

}  // namespace cnpa
