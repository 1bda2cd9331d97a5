// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/header_value.h"

#include <algorithm>
#include <string>

namespace cnpa {

bool IsHeaderValue(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && c != '\t') || byte == 0x7F;
  });
}

Status CheckHeaderValues(const Connection& connection) {
  Status status;
  const auto check = [&status](const char* field, std::string_view text) {
    if (status && !IsHeaderValue(text)) {
      status = Fail(ErrorCode::kInvalid, std::string(field) + ": " + std::string(kNoHeaderValue));
    }
  };
  const Impersonation& impersonate = connection.impersonate;
  check("token", connection.token);
  check("as", impersonate.user);
  check("as-uid", impersonate.uid);
  for (const std::string& group : impersonate.groups) check("as-groups", group);
  for (const auto& [key, value] : impersonate.extra) check("as-user-extra", value);
  return status;
}

}  // namespace cnpa
