// SPDX-License-Identifier: Apache-2.0
//
// A TLS server on loopback and a free port, for the tests of the real transport only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/certificates.h"

namespace cnpa {

class LoopbackServer {
 public:
  struct Received {
    std::string method;
    std::string path;
    std::map<std::string, std::string> headers;  ///< By name in lower case.
    std::string body;
    std::string client;  ///< The name in the client's certificate, where one is asked for.
  };

  /// Returns the bytes of a whole answer. "" closes the connection without one; kNever leaves it open and silent.
  using Handler = std::function<std::string(const Received&)>;
  inline static const std::string kNever = "never";

  enum class Family { kIpv4, kIpv6 };

  /// Serves until it is destroyed. With `client_ca_pem` only clients that have a certificate of these authorities.
  LoopbackServer(const Identity& identity, Handler handler, const std::string& client_ca_pem = {},
                 Family family = Family::kIpv4);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  LoopbackServer(LoopbackServer&&) = delete;
  LoopbackServer& operator=(LoopbackServer&&) = delete;

  int port() const;
  std::vector<Received> received() const;
  int connections() const;  ///< Accepted so far, those whose TLS failed included.

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns an answer with this code and body, on a connection that stays open.
std::string HttpAnswer(int code, const std::string& body, const std::string& more_headers = {});

}  // namespace cnpa
