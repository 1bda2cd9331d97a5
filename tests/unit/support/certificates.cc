// SPDX-License-Identifier: Apache-2.0
#include "support/certificates.h"

#include <cstdlib>
#include <memory>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace cnpa {
namespace {

struct Deleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

void Require(bool succeeded) {
  if (!succeeded) std::abort();
}

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Owned<BIO> Memory() {
  return Owned<BIO>(BIO_new(BIO_s_mem()));
}

Owned<X509> ReadCertificate(const std::string& pem) {
  const Owned<BIO> in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Owned<X509>(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
}

Owned<EVP_PKEY> ReadKey(const std::string& pem) {
  const Owned<BIO> in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Owned<EVP_PKEY>(PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr));
}

void AddExtension(X509* certificate, int kind, const std::string& value, X509* issuer = nullptr) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  Require(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1);
}

void SetName(X509* certificate, const std::string& name) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  Require(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.c_str()),
                                     -1, -1, 0) == 1);
}

}  // namespace

Identity MakeIdentity(const CertificateWish& wish) {
  const Owned<EVP_PKEY> key(wish.rsa_bits > 0 ? EVP_RSA_gen(static_cast<unsigned>(wish.rsa_bits))
                                              : EVP_EC_gen("P-256"));
  const Owned<X509> certificate(X509_new());
  Require(key != nullptr && certificate != nullptr && X509_set_version(certificate.get(), 2) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), wish.not_before.time_since_epoch().count());
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()), wish.not_after.time_since_epoch().count());
  Require(X509_set_pubkey(certificate.get(), key.get()) == 1);
  SetName(certificate.get(), wish.name);
  const Owned<X509> issuer = wish.issuer != nullptr ? ReadCertificate(wish.issuer->certificate_pem) : nullptr;
  const Owned<EVP_PKEY> issuer_key = wish.issuer != nullptr ? ReadKey(wish.issuer->key_pem) : nullptr;
  const X509* issued_by = issuer ? issuer.get() : certificate.get();
  Require(X509_set_issuer_name(certificate.get(), X509_get_subject_name(issued_by)) == 1);
  AddExtension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  if (!wish.server_names.empty()) AddExtension(certificate.get(), NID_subject_alt_name, wish.server_names);
  if (!wish.usage.empty()) AddExtension(certificate.get(), NID_ext_key_usage, wish.usage);
  if (!wish.key_usage.empty()) AddExtension(certificate.get(), NID_key_usage, wish.key_usage);
  if (wish.names_its_key) AddExtension(certificate.get(), NID_subject_key_identifier, "hash");
  if (wish.names_issuers_key) {
    AddExtension(certificate.get(), NID_authority_key_identifier, "keyid:always", issuer.get());
  }
  Require(X509_sign(certificate.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256()) > 0);

  const Owned<BIO> certificate_pem = Memory();
  const Owned<BIO> key_pem = Memory();
  Require(PEM_write_bio_X509(certificate_pem.get(), certificate.get()) == 1);
  Require(PEM_write_bio_PKCS8PrivateKey(key_pem.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return {Text(certificate_pem.get()), Text(key_pem.get())};
}

Authorities Trusting(const Identity& identity) {
  Result<Authorities> authorities = Authorities::Read(identity.certificate_pem);
  Require(authorities.has_value());
  return *std::move(authorities);
}

ClientCertificate ClientOf(const Identity& identity) {
  Result<ClientCertificate> client = ClientCertificate::Read(identity.certificate_pem, identity.key_pem);
  Require(client.has_value());
  return *std::move(client);
}

std::string Traditional(const std::string& key_pem, bool encrypted) {
  const Owned<EVP_PKEY> key = ReadKey(key_pem);
  const Owned<BIO> out = Memory();
  const std::string phrase = "pass phrase";
  Require(PEM_write_bio_PrivateKey_traditional(out.get(), key.get(), encrypted ? EVP_aes_128_cbc() : nullptr,
                                               reinterpret_cast<const unsigned char*>(phrase.data()),
                                               static_cast<int>(phrase.size()), nullptr, nullptr) == 1);
  return Text(out.get());
}

std::string Encrypted(const std::string& key_pem) {
  const Owned<EVP_PKEY> key = ReadKey(key_pem);
  const Owned<BIO> out = Memory();
  const std::string phrase = "pass phrase";
  Require(key != nullptr && PEM_write_bio_PKCS8PrivateKey(out.get(), key.get(), EVP_aes_128_cbc(), phrase.data(),
                                                          static_cast<int>(phrase.size()), nullptr, nullptr) == 1);
  return Text(out.get());
}

std::string Base64(const std::string& bytes) {
  std::string text(bytes.size() / 3 * 4 + 5, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

}  // namespace cnpa
