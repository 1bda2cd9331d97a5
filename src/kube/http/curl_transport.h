// SPDX-License-Identifier: Apache-2.0
//
// The real Transport: one thread, one event loop over libcurl's multi interface, connections kept alive within a pass.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "kube/auth/connection.h"
#include "kube/http/transport.h"

namespace cnpa {

/// What bounds a pass.
struct TransportLimits {
  std::chrono::steady_clock::time_point deadline;  ///< No request outlives it.
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds stall_timeout{15000};  ///< Without a byte for so long, an answer is given up.
  /// The same of a watch. The API server sends a bookmark after 60 to 75 s of silence, unless nothing has happened to
  /// the collection since it started.
  std::chrono::milliseconds watch_stall_timeout{100000};
  int connections = 8;  ///< At most; more requests wait.
  /// Returns whether the pass was told to end; requests in flight then have kStopGrace left.
  std::function<bool()> stop_requested;
  int stop_fd = -1;  ///< Becomes readable when `stop_requested` turns true; -1: none.
};
inline constexpr std::chrono::milliseconds kStopGrace{2000};

/// One request that has ended, for a debug log. Never a header, never a body.
struct RequestTrace {
  Method method = Method::kGet;
  std::string path;
  int code = 0;  ///< 0 when there was no answer.
  std::size_t bytes = 0;
  std::chrono::milliseconds took{0};
  std::string error;
};

class CurlTransport : public Transport {
 public:
  using OnTrace = std::function<void(const RequestTrace&)>;

  /// Puts other credentials into a connection whose own were refused; returns whether there were any.
  using Renew = std::function<Result<bool>(Connection&)>;

  /// Makes a transport to `connection`; nothing is sent yet. A request whose credentials are refused (401), and which
  /// is no watch, is sent once more with what `renew` gives, which is asked at most once in half a minute; nothing new
  /// begins until what is in flight with the old credentials has ended.
  ///
  /// Errors:  kInvalid when libcurl can't be set up or has another TLS library than OpenSSL, the server's address is
  ///          none, or something can't be sent as a header.
  static Result<std::unique_ptr<CurlTransport>> Create(Connection connection, TransportLimits limits, OnTrace on_trace,
                                                       Renew renew = {});

  ~CurlTransport() override;
  void Start(Request request, OnDone on_done) override;
  void RunUntilIdle() override;
  void Abandon(std::chrono::milliseconds after) override;
  void set_time_left(std::chrono::milliseconds left) override;
  bool stopping() const override;
  std::chrono::milliseconds time_left() const override;

 private:
  class Impl;
  explicit CurlTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Returns the versions of libcurl and its TLS library: "libcurl 7.88.1, OpenSSL/3.0.17".
std::string CurlVersion();

}  // namespace cnpa
