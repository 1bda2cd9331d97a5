// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/certificate.h"

#include <ctime>
#include <string_view>
#include <utility>

#include <openssl/bio.h>
#include <openssl/decoder.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace cnpa {
namespace {

struct Deleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(STACK_OF(X509) * certificates) const { sk_X509_pop_free(certificates, &X509_free); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(OSSL_DECODER_CTX* decoder) const { OSSL_DECODER_CTX_free(decoder); }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

Owned<BIO> Memory(std::string_view pem) {
  return Owned<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

/// Never asks anybody for a pass phrase, as OpenSSL does by itself of any PEM that is encrypted: it then fails to load.
int NoPassPhrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* asked) {
  if (asked != nullptr) *static_cast<bool*>(asked) = true;
  return -1;
}

/// Returns the next certificate of `bio`; none when there is no more, or it can't be read.
Owned<X509> ReadCertificate(BIO* bio) {
  return Owned<X509>(PEM_read_bio_X509(bio, nullptr, &NoPassPhrase, nullptr));
}

/// Puts the certificates that are left in `bio` into `chain`; returns whether all can be read.
bool ReadChain(BIO* bio, STACK_OF(X509) * chain) {
  while (Owned<X509> certificate = ReadCertificate(bio)) sk_X509_push(chain, certificate.release());
  const bool at_the_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  return at_the_end;
}

/// Reads a private key of the kind that `certificate` is for: a quarter of the work that one of any kind is.
Owned<EVP_PKEY> ReadKeyFor(X509* certificate, std::string_view pem, bool& encrypted) {
  const EVP_PKEY* of_certificate = X509_get0_pubkey(certificate);
  if (of_certificate == nullptr) return nullptr;
  EVP_PKEY* key = nullptr;
  const Owned<OSSL_DECODER_CTX> decoder(OSSL_DECODER_CTX_new_for_pkey(
      &key, "PEM", nullptr, EVP_PKEY_get0_type_name(of_certificate), EVP_PKEY_KEYPAIR, nullptr, nullptr));
  OSSL_DECODER_CTX_set_pem_password_cb(decoder.get(), &NoPassPhrase, &encrypted);
  OSSL_DECODER_from_bio(decoder.get(), Memory(pem).get());
  return Owned<EVP_PKEY>(key);
}

Owned<EVP_PKEY> ReadKey(std::string_view pem, bool& encrypted) {
  return Owned<EVP_PKEY>(PEM_read_bio_PrivateKey(Memory(pem).get(), nullptr, &NoPassPhrase, &encrypted));
}

Time ToTime(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  // Not by way of system_clock, whose nanoseconds end in 2262.
  return Time(std::chrono::seconds(timegm(&parts)));
}

}  // namespace

Result<Authorities> Authorities::Read(std::string pem) {
  constexpr std::string_view kAnyBegin = "-----BEGIN ";
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  const std::string_view text(pem);
  Owned<STACK_OF(X509)> certificates(sk_X509_new_null());
  std::string readable;
  bool all = true;
  for (std::size_t begin = text.find(kAnyBegin), next = 0; begin != std::string_view::npos; begin = next) {
    next = text.find(kAnyBegin, begin + 1);
    const std::string_view block = text.substr(begin, next - begin);
    const std::size_t end = block.find(kEnd);
    Owned<X509> certificate;
    if (block.starts_with(kBegin) && end != std::string_view::npos) certificate = ReadCertificate(Memory(block).get());
    all = all && certificate;
    if (!certificate) continue;
    sk_X509_push(certificates.get(), certificate.release());
    readable.append(block.substr(0, end + kEnd.size())).append("\n");
  }
  ERR_clear_error();
  if (readable.empty()) return Fail(ErrorCode::kInvalid, "holds no PEM certificate");
  Authorities authorities;
  authorities.pem_ = all ? std::move(pem) : std::move(readable);
  authorities.certificates_ = std::move(certificates);
  return authorities;
}

struct ClientCertificate::Parts {
  Owned<X509> certificate;
  Owned<STACK_OF(X509)> chain;
  Owned<EVP_PKEY> key;
};

Result<ClientCertificate> ClientCertificate::Read(std::string pem, std::string key_pem) {
  const Owned<BIO> certificates = Memory(pem);
  Parts parts{ReadCertificate(certificates.get()), Owned<STACK_OF(X509)>(sk_X509_new_null()), nullptr};
  ERR_clear_error();
  if (!parts.certificate) return Fail(ErrorCode::kInvalid, "client certificate: holds no PEM certificate");
  if (!ReadChain(certificates.get(), parts.chain.get())) {
    return Fail(ErrorCode::kInvalid, "client certificate: one that follows the first can't be read");
  }
  bool encrypted = false;
  parts.key = ReadKeyFor(parts.certificate.get(), key_pem, encrypted);
  if (!parts.key) parts.key = ReadKey(key_pem, encrypted);
  ERR_clear_error();
  if (encrypted) return Fail(ErrorCode::kInvalid, "client key: it is encrypted, and nobody can type a pass phrase");
  if (!parts.key) return Fail(ErrorCode::kInvalid, "client key: holds no PEM private key");
  const bool match = X509_check_private_key(parts.certificate.get(), parts.key.get()) == 1;
  ERR_clear_error();
  if (!match) return Fail(ErrorCode::kInvalid, "client key: it does not belong to the client certificate");
  ClientCertificate client;
  client.pem_ = std::move(pem);
  client.key_pem_ = std::move(key_pem);
  client.parts_ = std::make_shared<const Parts>(std::move(parts));
  return client;
}

std::optional<Validity> ClientCertificate::validity() const {
  if (empty()) return std::nullopt;
  const X509* certificate = parts_->certificate.get();
  return Validity{.from = ToTime(X509_get0_notBefore(certificate)), .until = ToTime(X509_get0_notAfter(certificate))};
}

ClientCertificate ClientCertificate::WithoutKey() const {
  ClientCertificate without;
  if (empty()) return without;
  X509_up_ref(parts_->certificate.get());
  without.parts_ = std::make_shared<const Parts>(Parts{Owned<X509>(parts_->certificate.get()), nullptr, nullptr});
  return without;
}

Status ClientCertificate::PresentIn(ssl_ctx_st* context) const {
  constexpr int kInPlaceOfAnother = 1;
  ERR_clear_error();
  const bool taken = SSL_CTX_use_cert_and_key(context, parts_->certificate.get(), parts_->key.get(),
                                              parts_->chain.get(), kInPlaceOfAnother) == 1;
  const unsigned long error = taken ? 0 : ERR_get_error();
  ERR_clear_error();
  if (taken) return {};
  if (ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_EE_KEY_TOO_SMALL) {
    return Fail(ErrorCode::kInvalid, "its key is too short for the security level " +
                                         std::to_string(SSL_CTX_get_security_level(context)) +
                                         " of this machine's OpenSSL: issue one with a longer key");
  }
  const char* reason = ERR_reason_error_string(error);
  return Fail(ErrorCode::kInvalid, reason != nullptr ? reason : "for no reason given");
}

std::string DescribeValidity(const ClientCertificate& certificate, Time now) {
  const std::optional<Validity> validity = certificate.validity();
  if (!validity) return {};
  if (now > validity->until) return "expired on " + FormatTime(validity->until);
  if (now < validity->from) return "is valid only from " + FormatTime(validity->from);
  return {};
}

}  // namespace cnpa
