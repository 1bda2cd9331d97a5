// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cnpa {

/// Texts of examples/crd.yaml, examples/rbac.yaml and systemd/cnpa-op.service, made by the build.
extern const std::string_view kCrdYaml;
extern const std::string_view kRbacYaml;
extern const std::string_view kUnit;

}  // namespace cnpa
