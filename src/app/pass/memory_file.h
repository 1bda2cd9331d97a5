// SPDX-License-Identifier: Apache-2.0
//
// What a pass remembers of those before it, in a folder that goes with the machine's next start. Nothing depends on it:
// whatever is wrong with the file, it is as if nothing had happened before.
#pragma once

#include <string>

#include "base/environment.h"
#include "base/result.h"
#include "core/plan/fights.h"
#include "core/teamspace/setbacks.h"

namespace cnpa {

struct PassMemory {
  FightRecord repairs;
  SetbackRecord setbacks;

  bool operator==(const PassMemory&) const = default;
};

/// Returns the folder for what outlives a pass but no restart: where systemd says, /run/cnpa-op for root, else below
/// $XDG_RUNTIME_DIR. Empty where there is none.
std::string DefaultRuntimeFolder(const Environment& environment, bool is_root);

/// Reads `memory.json` in `folder`. A file that is not there is an empty memory.
///
/// Errors:  kInvalid for what others may write, or can't be read; kMalformed.
Result<PassMemory> LoadMemory(const std::string& folder);

/// Puts `memory` in its place, readable for the folder's owner alone: a pass by hand as root leaves it to the service.
/// Two passes at once may lose what one of them notes. The folder is made where only it is missing.
///
/// Errors:  kInvalid: what could not be done; then nothing has changed.
Status SaveMemory(const std::string& folder, const PassMemory& memory);

/// Returns the text of the file.
std::string EncodeMemory(const PassMemory& memory);

/// Errors:  kMalformed.
Result<PassMemory> DecodeMemory(std::string text);

}  // namespace cnpa
