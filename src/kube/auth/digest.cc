// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/digest.h"

#include <array>

#include <openssl/evp.h>

namespace cnpa {

std::string Sha256(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += kHex[digest[i] >> 4U];
    text += kHex[digest[i] & 0xFU];
  }
  return text;
}

}  // namespace cnpa
