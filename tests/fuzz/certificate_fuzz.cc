// SPDX-License-Identifier: Apache-2.0
//
// PEM; or, where the input does not look like it, changes to a certificate and a key that are right: three bytes
// each, two for the place and one for what comes there. Most changed bytes of PEM are only bad base64.
#include "base/base64.h"
#include "fuzz.h"
#include "kube/auth/certificate.h"
#include "support/certificates.h"

namespace cnpa {
namespace {

void Check(const std::string& certificate, const std::string& key) {
  const Result<Authorities> usable = Authorities::Read(certificate);
  RequireValueOr(ErrorCode::kInvalid, usable);
  const Result<ClientCertificate> pair = ClientCertificate::Read(certificate, key);
  RequireValueOr(ErrorCode::kInvalid, pair);
  if (!usable) Require(!pair, "no certificate, no pair");
  if (!pair) return;
  for (const std::int64_t second : {-4'000'000'000L, 0L, 1'900'000'000L, 250'000'000'000L}) {
    const std::string validity = DescribeValidity(*pair, Time(std::chrono::seconds(second)));
    RequireOneLine(validity);
  }
}

/// Returns `pem` with the changes of `edits` made to the bytes in it.
std::string Edited(const std::string& pem, std::string_view edits) {
  const std::size_t begin = pem.find('\n') + 1;
  const std::size_t end = pem.find("\n-----END");
  std::string bytes = DecodeBase64(pem.substr(begin, end - begin)).value_or("");
  Require(!bytes.empty(), "what was just made decodes");
  for (; edits.size() >= 3; edits.remove_prefix(3)) {
    const auto at = [edits](std::size_t i) { return std::size_t{static_cast<unsigned char>(edits[i])}; };
    bytes[(at(0) * 256 + at(1)) % bytes.size()] = edits[2];
  }
  return pem.substr(0, begin) + Base64(bytes) + pem.substr(end);
}

}  // namespace

void Fuzz(std::string_view text) {
  static const Identity kIdentity = MakeIdentity();
  Require(ClientCertificate::Read(kIdentity.certificate_pem, kIdentity.key_pem).has_value(), "a right pair is taken");
  if (text.find("-----BEGIN") == std::string_view::npos) {
    Check(Edited(kIdentity.certificate_pem, text), kIdentity.key_pem);
    Check(kIdentity.certificate_pem, Edited(kIdentity.key_pem, text));
    return;
  }
  const std::string pem(text);
  Check(pem, pem);
  Check(pem, kIdentity.key_pem);
  Check(kIdentity.certificate_pem, pem);
}

}  // namespace cnpa
