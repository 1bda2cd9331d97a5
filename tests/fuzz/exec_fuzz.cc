// SPDX-License-Identifier: Apache-2.0
//
// What an exec plugin printed.
#include "fuzz.h"
#include "kube/auth/exec_plugin.h"

namespace cnpa {

void Fuzz(std::string_view text) {
  for (const char* version : {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
    const Result<Credential> credential = DecodeExecCredential(std::string(text), version);
    RequireValueOr(ErrorCode::kMalformed, credential);
    if (!credential) continue;
    Require(!credential->token.empty() || !credential->client_certificate.empty(), "it says who we are");
    Require(credential->token.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos,
            "a token can't begin another header");
  }
}

}  // namespace cnpa
