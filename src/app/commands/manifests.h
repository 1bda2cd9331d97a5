// SPDX-License-Identifier: Apache-2.0
//
// The CRD and the least rights, from examples/, and the unit, from systemd/, built into the binary.
#pragma once

#include <string>
#include <string_view>

#include "app/cli/options.h"
#include "app/stages/manifest_texts.h"

namespace cnpa {

/// Returns the rights for the user or service account of `options`, with what OpenShift asks for if that is wanted.
std::string RbacManifest(const Options& options);

/// Returns the unit for the program at `path`: by its name alone where systemd looks for programs, or when `path` is
/// empty.
///
/// Source:  systemd.service(5), command lines.
std::string UnitManifest(std::string_view path);

/// Returns why the unit can't run the program at `path`, or "" when it can: parts of the file system are hidden from
/// it.
std::string WhyUnitCannotRun(std::string_view path);

}  // namespace cnpa
