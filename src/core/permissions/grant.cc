// SPDX-License-Identifier: Apache-2.0
#include "core/permissions/grant.h"

#include <string_view>

#include "base/shell.h"
#include "core/objects/writer.h"

namespace cnpa {
namespace {

constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";

std::string Command(const std::string& whom) {
  return "cnpa-op rbac " + whom + "| kubectl apply -f -";
}

}  // namespace

std::string GrantAdvice(const std::string& user) {
  if (user.empty() || user == kFieldManager) return Command("");
  const std::string whom = user.starts_with(kServiceAccountPrefix)
                               ? "--serviceaccount " + ShellWord(user.substr(kServiceAccountPrefix.size()))
                               : "--user " + ShellWord(user);
  return "move cnpa-op's permissions to this user: " + Command(whom + " ");
}

}  // namespace cnpa
