// SPDX-License-Identifier: Apache-2.0
#include "kube/certificate.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/certificates.h"

namespace cnpa {
namespace {

using std::chrono::seconds;

TEST_CASE("CheckClientCertificate takes a certificate with the key that belongs to it", "[kube][certificate]") {
  const Identity identity = MakeIdentity();
  CHECK(ErrorOf(CheckClientCertificate(identity.certificate_pem, identity.key_pem)) == std::nullopt);
  // A chain: the first certificate is ours.
  CHECK(ErrorOf(CheckClientCertificate(identity.certificate_pem + MakeIdentity().certificate_pem, identity.key_pem)) ==
        std::nullopt);
}

TEST_CASE("CheckClientCertificate says what can't be used, and quotes none of it", "[kube][certificate]") {
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
      {"an encrypted key", identity.certificate_pem, Encrypted(identity.key_pem),
       "client key: it is encrypted, and nobody can type a pass phrase"},
      {"no key", identity.certificate_pem, "secret words", "client key: holds no PEM private key"},
      {"a certificate for a key", identity.certificate_pem, identity.certificate_pem,
       "client key: holds no PEM private key"},
      {"no certificate", "words", identity.key_pem, "client certificate: holds no PEM certificate"},
      {"a key for a certificate", identity.key_pem, identity.key_pem, "client certificate: holds no PEM certificate"},
      {"half a certificate", identity.certificate_pem.substr(0, 200), identity.key_pem,
       "client certificate: holds no PEM certificate"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ErrorOf(CheckClientCertificate(c.certificate, c.key)) == Error{ErrorCode::kInvalid, c.want});
    }
  }
}

TEST_CASE("CheckCertificate wants at least one certificate", "[kube][certificate]") {
  const Identity identity = MakeIdentity();
  const std::string with_text = "text before\n" + identity.certificate_pem;
  CHECK(ReadableCertificates(with_text) == with_text);
  const std::string damaged = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n";
  CHECK(ReadableCertificates(damaged + identity.certificate_pem) == identity.certificate_pem);
  CHECK_FALSE(ReadableCertificates(damaged));
  for (const std::string& pem : {std::string(), std::string("words"), identity.key_pem}) {
    CHECK(ErrorOf(ReadableCertificates(pem)) == Error{ErrorCode::kInvalid, "holds no PEM certificate"});
  }
}

TEST_CASE("DescribeValidity says when a certificate is not valid", "[kube][certificate]") {
  const std::string pem = MakeIdentity({.not_before = kNow, .not_after = kNow + seconds(3600)}).certificate_pem;
  CHECK(DescribeValidity(pem, kNow).empty());
  CHECK(DescribeValidity(pem, kNow + seconds(3600)).empty());
  CHECK(DescribeValidity(pem, kNow + seconds(3601)) == "expired on 2031-05-06T08:08:09Z");
  CHECK(DescribeValidity(pem, kNow - seconds(1)) == "is valid only from 2031-05-06T07:08:09Z");
}

TEST_CASE("DescribeValidity knows a certificate that outlives the nanoseconds of 64 bits", "[kube][certificate]") {
  const Time end_of_9999{std::chrono::sys_days(std::chrono::year(9999) / 12 / 31) + seconds(86399)};
  const std::string pem = MakeIdentity({.not_before = kNow, .not_after = end_of_9999}).certificate_pem;
  CHECK(DescribeValidity(pem, kNow).empty());
  CHECK(DescribeValidity(pem, end_of_9999).empty());
  CHECK(DescribeValidity(pem, end_of_9999 + seconds(1)) == "expired on 9999-12-31T23:59:59Z");
}

TEST_CASE("DescribeValidity says nothing where there is no certificate", "[kube][certificate]") {
  CHECK(DescribeValidity("", kNow).empty());
  CHECK(DescribeValidity("words", kNow).empty());
}

TEST_CASE("ReadValidity reads both ends of the first certificate", "[kube][certificate]") {
  const std::string pem = MakeIdentity({.not_before = kNow, .not_after = kNow + seconds(3600)}).certificate_pem;
  CHECK((ReadValidity(pem + MakeIdentity().certificate_pem) == Validity{kNow, kNow + seconds(3600)}));
  CHECK_FALSE(ReadValidity("words"));
}

}  // namespace
}  // namespace cnpa
