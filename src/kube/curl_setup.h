// SPDX-License-Identifier: Apache-2.0
//
// A Connection in libcurl's words: what all requests over it share.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "kube/connection.h"
#include "kube/curl_handles.h"

namespace cnpa {

/// "https://host:port/prefix" in its parts; `port` is never empty.
struct ServerAddress {
  std::string host;
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

  /// Returns whether new connections have to be shown to PrepareTls().
  ///
  /// Not by way of a proxy that speaks TLS itself: libcurl does not tell its context from the server's.
  bool prepares_tls() const { return !connection_.proxy.starts_with("https://"); }

  /// Puts authorities and client certificate into the OpenSSL SSL_CTX of a new connection.
  ///
  /// Errors:  of ClientCertificate::PresentIn().
  Status PrepareTls(void* context) const;

 private:
  void ApplyProxy(CURL* easy) const;
  void ApplyTls(CURL* easy) const;

  Connection connection_;
  std::string base_url_;
  CurlSlist connect_to_;
  CurlSlist headers_;
};

}  // namespace cnpa
