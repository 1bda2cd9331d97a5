// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/certificate.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/certificates.h"

namespace cnpa {
namespace {

using std::chrono::seconds;

// OpenSSL asks a terminal for the pass phrase of such a one, if it is let.
constexpr const char* kEncrypted =
    "-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00000000000000000000000000000000\n\n"
    "YWJjZGVmZ2hpamtsbW5vcA==\n-----END CERTIFICATE-----\n";
constexpr const char* kDamaged = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n";

std::optional<Error> ErrorOfClient(const std::string& certificate, const std::string& key) {
  return ErrorOf(ClientCertificate::Read(certificate, key));
}

std::string DescribeValidityOf(const CertificateWish& wish, Time now) {
  return DescribeValidity(ClientOf(MakeIdentity(wish)), now);
}

TEST_CASE("ClientCertificate takes a certificate with the key that belongs to it", "[kube][certificate]") {
  const Identity identity = MakeIdentity();
  const ClientCertificate client = ClientOf(identity);
  CHECK_FALSE(client.empty());
  CHECK(client.pem() == identity.certificate_pem);
  CHECK(client.key_pem() == identity.key_pem);
  // A chain: the first certificate is ours.
  CHECK(ErrorOfClient(identity.certificate_pem + MakeIdentity().certificate_pem, identity.key_pem) == std::nullopt);
  // One file for both.
  const std::string both = identity.key_pem + identity.certificate_pem;
  CHECK(ErrorOfClient(both, both) == std::nullopt);
}

TEST_CASE("ClientCertificate takes keys of every kind and form", "[kube][certificate]") {
  const Identity rsa = MakeIdentity({.rsa_bits = 512});
  CHECK(ErrorOfClient(rsa.certificate_pem, rsa.key_pem) == std::nullopt);
  CHECK(ErrorOfClient(rsa.certificate_pem, Traditional(rsa.key_pem)) == std::nullopt);
  const Identity ec = MakeIdentity();
  const std::string traditional = Traditional(ec.key_pem);
  CHECK(traditional.starts_with("-----BEGIN EC PRIVATE KEY-----"));
  CHECK(ErrorOfClient(ec.certificate_pem, traditional) == std::nullopt);
}

TEST_CASE("ClientCertificate without its key knows its validity, and holds no secret", "[kube][certificate]") {
  const Identity identity = MakeIdentity();
  const std::string both = identity.key_pem + identity.certificate_pem;
  const ClientCertificate client = *ClientCertificate::Read(both, both);
  const ClientCertificate without = client.WithoutKey();
  CHECK(without.key_pem().empty());
  CHECK(without.pem().empty());
  CHECK(without.validity() == client.validity());
  CHECK(ClientCertificate().WithoutKey().empty());
}

TEST_CASE("ClientCertificate says what can't be used, and quotes none of it", "[kube][certificate]") {
  const Identity identity = MakeIdentity();
  struct Case {
    std::string name;
    std::string certificate;
    std::string key;
    std::string want;
  };
  const std::vector<Case> cases{
      {"another's key", identity.certificate_pem, MakeIdentity().key_pem,
       "client key: it does not belong to the client certificate"},
      {"a key of another kind", identity.certificate_pem, MakeIdentity({.rsa_bits = 512}).key_pem,
       "client key: it does not belong to the client certificate"},
      {"an encrypted key", identity.certificate_pem, Encrypted(identity.key_pem),
       "client key: it is encrypted, and nobody can type a pass phrase"},
      {"an encrypted key in its old form", identity.certificate_pem, Traditional(identity.key_pem, true),
       "client key: it is encrypted, and nobody can type a pass phrase"},
      {"no key", identity.certificate_pem, "secret words", "client key: holds no PEM private key"},
      {"a certificate for a key", identity.certificate_pem, identity.certificate_pem,
       "client key: holds no PEM private key"},
      {"no certificate", "words", identity.key_pem, "client certificate: holds no PEM certificate"},
      {"a key for a certificate", identity.key_pem, identity.key_pem, "client certificate: holds no PEM certificate"},
      {"half a certificate", identity.certificate_pem.substr(0, 200), identity.key_pem,
       "client certificate: holds no PEM certificate"},
      {"an encrypted certificate", kEncrypted, identity.key_pem, "client certificate: holds no PEM certificate"},
      {"an encrypted chain", identity.certificate_pem + kEncrypted, identity.key_pem,
       "client certificate: one that follows the first can't be read"},
      {"a damaged chain", identity.certificate_pem + kDamaged, identity.key_pem,
       "client certificate: one that follows the first can't be read"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ErrorOfClient(c.certificate, c.key) == Error{ErrorCode::kInvalid, c.want});
    }
  }
}

TEST_CASE("Authorities wants at least one certificate, and passes over what is none", "[kube][certificate]") {
  const Identity identity = MakeIdentity();
  const std::string with_text = "text before\n" + identity.certificate_pem;
  const auto pem_of = [](const std::string& pem) { return Authorities::Read(pem)->pem(); };
  CHECK(pem_of(with_text) == with_text);
  for (const std::string& more : {std::string(kDamaged), std::string(kEncrypted), identity.key_pem}) {
    CHECK(pem_of(more + identity.certificate_pem) == identity.certificate_pem);
    CHECK(pem_of(identity.certificate_pem + more) == identity.certificate_pem);
  }
  const std::string cut = identity.certificate_pem.substr(0, identity.certificate_pem.size() / 2) + "\n";
  CHECK(pem_of(cut + identity.certificate_pem) == identity.certificate_pem);
  CHECK(Authorities().empty());
  for (const std::string& pem : {std::string(), std::string("words"), identity.key_pem, std::string(kDamaged)}) {
    CHECK(ErrorOf(Authorities::Read(pem)) == Error{ErrorCode::kInvalid, "holds no PEM certificate"});
  }
}

TEST_CASE("DescribeValidity says when a certificate is not valid", "[kube][certificate]") {
  const CertificateWish wish{.not_before = kNow, .not_after = kNow + seconds(3600)};
  CHECK(DescribeValidityOf(wish, kNow).empty());
  CHECK(DescribeValidityOf(wish, kNow + seconds(3600)).empty());
  CHECK(DescribeValidityOf(wish, kNow + seconds(3601)) == "expired on 2031-05-06T08:08:09Z");
  CHECK(DescribeValidityOf(wish, kNow - seconds(1)) == "is valid only from 2031-05-06T07:08:09Z");
}

TEST_CASE("DescribeValidity knows a certificate that outlives the nanoseconds of 64 bits", "[kube][certificate]") {
  const Time end_of_9999{std::chrono::sys_days(std::chrono::year(9999) / 12 / 31) + seconds(86399)};
  const CertificateWish wish{.not_before = kNow, .not_after = end_of_9999};
  CHECK(DescribeValidityOf(wish, kNow).empty());
  CHECK(DescribeValidityOf(wish, end_of_9999).empty());
  CHECK(DescribeValidityOf(wish, end_of_9999 + seconds(1)) == "expired on 9999-12-31T23:59:59Z");
}

TEST_CASE("DescribeValidity says nothing where there is no certificate", "[kube][certificate]") {
  CHECK(DescribeValidity({}, kNow).empty());
}

TEST_CASE("ClientCertificate knows both ends of the first certificate's validity", "[kube][certificate]") {
  const Identity identity = MakeIdentity({.not_before = kNow, .not_after = kNow + seconds(3600)});
  const auto chain =
      ClientCertificate::Read(identity.certificate_pem + MakeIdentity().certificate_pem, identity.key_pem);
  REQUIRE(ErrorOf(chain) == std::nullopt);
  CHECK((chain->validity() == Validity{kNow, kNow + seconds(3600)}));
  CHECK_FALSE(ClientCertificate().validity());
}

}  // namespace
}  // namespace cnpa
