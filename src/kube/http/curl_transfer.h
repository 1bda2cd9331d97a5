// SPDX-License-Identifier: Apache-2.0
//
// One request on its way through libcurl, and what has come of its answer.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

#include "kube/http/curl_failure.h"
#include "kube/http/curl_handles.h"
#include "kube/http/curl_setup.h"
#include "kube/http/transport.h"

namespace cnpa {

class CurlTransfer {
 public:
  using Clock = std::chrono::steady_clock;

  /// Sets `easy` up for `request`, which then goes with what `setup`, which outlives it, says. `timeout` is from start
  /// to last byte.
  CurlTransfer(Request request, Transport::OnDone on_done, const CurlSetup& setup, CurlEasy easy,
               std::chrono::milliseconds timeout);

  /// Returns the transfer that an easy handle performs.
  static CurlTransfer& Of(CURL* easy);

  CURL* easy() const { return easy_.get(); }
  const Request& request() const { return request_; }
  const Response& response() const { return response_; }
  /// What `on_body`, or a limit, said of the body.
  const Status& body_status() const { return body_status_; }
  std::size_t bytes() const { return bytes_; }
  /// When a byte last came.
  Clock::time_point moved() const { return moved_; }
  std::chrono::milliseconds age() const;
  TransferProgress progress() const;

  /// Returns the error for libcurl's `code`.
  Error Failure(CURLcode code) const;

  /// Gives the handle back, for the next request.
  CurlEasy TakeEasy() { return std::move(easy_); }
  Request TakeRequest() { return std::move(request_); }
  Transport::OnDone TakeOnDone() { return std::move(on_done_); }

  void Done(Result<Response> result) const { on_done_(std::move(result)); }
  void DoneWithResponse() { on_done_(std::move(response_)); }

 private:
  static CURLcode OnTls(CURL* easy, void* context, void* user);
  static std::size_t OnSend(char* buffer, std::size_t size, std::size_t count, void* user);
  static std::size_t OnBytes(char* data, std::size_t size, std::size_t count, void* user);
  static std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* user);

  void ApplyBody();
  void TakeHeader(std::string_view line);

  Request request_;
  std::chrono::milliseconds timeout_;
  Transport::OnDone on_done_;
  const CurlSetup& setup_;
  CurlEasy easy_;
  CurlSlist headers_;  ///< Of a request with a body; the others share those of `setup_`.
  Response response_;
  Status tls_status_;  ///< What CurlSetup::PrepareTls() said.
  Status body_status_;
  bool compressed_ = false;
  std::size_t body_sent_ = 0;   ///< Bytes of the request's body that libcurl has taken.
  std::size_t head_bytes_ = 0;  ///< Of the answer that came last.
  std::size_t bytes_ = 0;       ///< Of the answer's body that came.
  Clock::time_point started_ = Clock::now();
  Clock::time_point moved_ = started_;
  std::array<char, CURL_ERROR_SIZE> error_{};
};

}  // namespace cnpa
