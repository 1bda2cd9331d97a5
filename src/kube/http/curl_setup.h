// SPDX-License-Identifier: Apache-2.0
//
// A Connection in libcurl's words: what all requests over it share.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "kube/auth/connection.h"
#include "kube/http/curl_handles.h"
#include "kube/http/server_verifier.h"

namespace cnpa {

/// "https://host:port/prefix" in its parts; `port` is never empty.
struct ServerAddress {
  std::string host;  ///< An IPv6 address is in brackets, and has its zone as "%25eth0".
  std::string port;
  std::string prefix;
};

/// Takes a server's URL apart.
///
/// Errors:  kInvalid when it is none, or another scheme's: credentials are sent over TLS only.
Result<ServerAddress> ParseServerAddress(const std::string& server);

/// Handles that were set up point into it.
class CurlSetup {
 public:
  CurlSetup(Connection connection, const ServerAddress& address);

  const Connection& connection() const { return connection_; }
  /// Of a request without a body.
  curl_slist* headers() const { return headers_.get(); }
  /// Returns the URL for a path from "/" on.
  std::string Url(const std::string& path) const { return base_url_ + path; }

  /// Sets what is the same for each request that `easy` will perform.
  void Apply(CURL* easy, std::chrono::milliseconds connect_timeout) const;

  /// Puts what a new connection verifies and presents into its OpenSSL SSL_CTX: that of the server, or of a proxy that
  /// speaks TLS itself.
  ///
  /// Errors:  of ClientCertificate::PresentIn().
  Status PrepareTls(void* context, TlsPeer peer) const;

  /// Returns why the last server, or proxy, was not trusted.
  const std::string& refusal() const {
    return proxy_ && server_->refusal().empty() ? proxy_->refusal() : server_->refusal();
  }

 private:
  void ApplyProxy(CURL* easy) const;
  void ApplyTls(CURL* easy) const;

  Connection connection_;
  std::string base_url_;
  std::unique_ptr<ServerVerifier> server_;
  std::unique_ptr<ServerVerifier> proxy_;  ///< None without a proxy.
  CurlSlist connect_to_;
  CurlSlist headers_;
};

}  // namespace cnpa
