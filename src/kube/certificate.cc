// SPDX-License-Identifier: Apache-2.0
#include "kube/certificate.h"

#include <ctime>
#include <memory>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace cnpa {
namespace {

struct Deleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

Owned<BIO> Memory(const std::string& pem) {
  return Owned<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

/// Never asks anybody for a pass phrase: an encrypted key then fails to load.
int NoPassPhrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

Owned<X509> ReadCertificate(const std::string& pem) {
  Owned<X509> certificate(PEM_read_bio_X509(Memory(pem).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return certificate;
}

Time ToTime(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  // Not by way of system_clock, whose nanoseconds end in 2262.
  return Time(std::chrono::seconds(timegm(&parts)));
}

}  // namespace

Result<std::string> ReadableCertificates(const std::string& pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  std::string readable;
  bool all = true;
  for (std::size_t begin = pem.find(kBegin); begin != std::string::npos; begin = pem.find(kBegin, begin + 1)) {
    const std::size_t end = pem.find(kEnd, begin);
    if (end == std::string::npos) break;
    const std::string one = pem.substr(begin, end + kEnd.size() - begin) + "\n";
    if (ReadCertificate(one)) {
      readable += one;
    } else {
      all = false;
    }
  }
  if (readable.empty()) return Fail(ErrorCode::kInvalid, "holds no PEM certificate");
  return all ? pem : readable;
}

Status CheckClientCertificate(const std::string& certificate_pem, const std::string& key_pem) {
  const Owned<X509> certificate = ReadCertificate(certificate_pem);
  if (!certificate) return Fail(ErrorCode::kInvalid, "client certificate: holds no PEM certificate");
  bool encrypted = false;
  const Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(Memory(key_pem).get(), nullptr, &NoPassPhrase, &encrypted));
  ERR_clear_error();
  if (encrypted) return Fail(ErrorCode::kInvalid, "client key: it is encrypted, and nobody can type a pass phrase");
  if (!key) return Fail(ErrorCode::kInvalid, "client key: holds no PEM private key");
  const bool match = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!match) return Fail(ErrorCode::kInvalid, "client key: it does not belong to the client certificate");
  return {};
}

std::optional<Validity> ReadValidity(const std::string& certificate_pem) {
  const Owned<X509> certificate = ReadCertificate(certificate_pem);
  if (!certificate) return std::nullopt;
  return Validity{.from = ToTime(X509_get0_notBefore(certificate.get())),
                  .until = ToTime(X509_get0_notAfter(certificate.get()))};
}

std::string DescribeValidity(const std::string& certificate_pem, Time now) {
  const std::optional<Validity> validity = ReadValidity(certificate_pem);
  if (!validity) return {};
  if (now > validity->until) return "expired on " + FormatTime(validity->until);
  if (now < validity->from) return "is valid only from " + FormatTime(validity->from);
  return {};
}

}  // namespace cnpa
