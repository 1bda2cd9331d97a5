// SPDX-License-Identifier: Apache-2.0
//
// Whether a TLS server is the one that was meant: Go's rules, so that kubectl and cnpa-op trust the same servers.
#pragma once

#include <string>

#include "kube/auth/certificate.h"

struct ssl_ctx_st;
struct x509_store_ctx_st;

namespace cnpa {

/// Which of the two servers of a connection is verified.
enum class TlsPeer { kServer, kProxy };

/// Verifies a server's certificates and its name, in place of libcurl and of OpenSSL's own order of things:
///
/// * Each authority is tried, also where several bear the same name: that is how one is replaced by another.
/// * The name must be among the subject alternative names; the common name does not count.
/// * What is wrong is told in words that do not depend on the versions of the libraries.
///
/// Source:  crypto/x509, Certificate.Verify; RFC 9525, section 6.
class ServerVerifier {
 public:
  /// Verifies by `authorities`, or by the system's when there are none, that a server is called `name`: a host's name
  /// or an IP address, which may stand in brackets and have a zone.
  ServerVerifier(TlsPeer peer, Authorities authorities, std::string name);
  ServerVerifier(const ServerVerifier&) = delete;
  ServerVerifier& operator=(const ServerVerifier&) = delete;
  ServerVerifier(ServerVerifier&&) = delete;
  ServerVerifier& operator=(ServerVerifier&&) = delete;
  ~ServerVerifier() = default;

  /// Has connections of `context`, an OpenSSL SSL_CTX that `this` outlives, be made to such a server only.
  void VerifyIn(ssl_ctx_st* context);

  /// Returns why the last server was refused, with the way out; "" when it was not.
  const std::string& refusal() const { return refusal_; }

 private:
  static int OnVerify(x509_store_ctx_st* context, void* verifier);

  /// Returns OpenSSL's code for how it ended.
  int Verify(x509_store_ctx_st* context);
  int VerifyByEach(x509_store_ctx_st* context);
  std::string DescribeError(x509_store_ctx_st* context) const;
  std::string DescribeNames(x509_store_ctx_st* context) const;

  TlsPeer peer_;
  Authorities authorities_;
  std::string name_;
  std::string refusal_;
};

}  // namespace cnpa
