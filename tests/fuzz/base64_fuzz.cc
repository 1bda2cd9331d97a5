// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"
#include "fuzz.h"
#include "support/certificates.h"

namespace cnpa {

void Fuzz(std::string_view text) {
  const Result<std::string> bytes = DecodeBase64(text);
  RequireValueOr(ErrorCode::kInvalid, bytes);

  std::string folded;
  for (const char c : text) folded.append({c, '\r', '\n'});
  Require(DecodeBase64(folded) == bytes, "line breaks change nothing");

  if (!bytes) {
    Require(bytes.error().message.starts_with("not base64"), "the error quotes nothing: the text may be a key");
    return;
  }
  Require(bytes->size() <= text.size() / 4 * 3 + 2, "three bytes from four digits");
  Require(DecodeBase64(Base64(*bytes)) == bytes, "what was decoded, encoded and decoded again is the same");
  Require(DecodeBase64(Base64(std::string(text))) == std::string(text), "any bytes survive encoding and decoding");
}

}  // namespace cnpa
