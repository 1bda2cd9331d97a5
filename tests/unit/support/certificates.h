// SPDX-License-Identifier: Apache-2.0
//
// Certificates made while a test runs: no key lies in the repository, and none of them expires there.
#pragma once

#include <string>

#include "base/time.h"
#include "kube/auth/certificate.h"
#include "support/builders.h"

namespace cnpa {

struct Identity {
  std::string certificate_pem;
  std::string key_pem;
};

/// Returns trust in `identity` alone, which signs itself.
Authorities Trusting(const Identity& identity);

/// Returns `identity` as the client that presents it.
ClientCertificate ClientOf(const Identity& identity);

struct CertificateWish {
  const Identity* issuer = nullptr;  ///< None: it signs itself, so that it is its own authority.
  std::string name = "test";
  std::string server_names;        ///< "DNS:localhost,IP:127.0.0.1"; empty: none.
  std::string usage;               ///< "clientAuth"; empty: every.
  std::string key_usage;           ///< "keyEncipherment"; empty: every.
  bool names_its_key = false;      ///< With a subject key identifier.
  bool names_issuers_key = false;  ///< With an authority key identifier, which takes an issuer that names its key.
  int rsa_bits = 0;                ///< 0: its key is of the curve P-256.
  Time not_before = kNow - std::chrono::hours(24 * 36500);
  Time not_after = kNow + std::chrono::hours(24 * 36500);
};

/// Makes a key and a certificate for it.
Identity MakeIdentity(const CertificateWish& wish = {});

/// Returns the key encrypted with a pass phrase.
std::string Encrypted(const std::string& key_pem);

/// Returns the key in the form of its kind, as "EC PRIVATE KEY", which is older than PKCS #8.
std::string Traditional(const std::string& key_pem, bool encrypted = false);

/// Encodes in base64, in one line.
std::string Base64(const std::string& bytes);

}  // namespace cnpa
