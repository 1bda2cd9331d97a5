// SPDX-License-Identifier: Apache-2.0
//
// The way out where a permission is missing, for whoever the server takes us for.
#pragma once

#include <string>

namespace cnpa {

/// Returns how to give `user`, as the server spells it, all permissions that cnpa-op needs: "cnpa-op rbac | kubectl
/// apply -f -". The bindings have one subject, so for any user but the default one it says that another loses them.
/// Empty: it is not known who we are.
std::string GrantAdvice(const std::string& user);

}  // namespace cnpa
