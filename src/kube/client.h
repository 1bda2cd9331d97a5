// SPDX-License-Identifier: Apache-2.0
//
// Requests as a pass makes them: lists that are complete or fail, writes that are made once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "kube/api_error.h"
#include "kube/codec.h"
#include "kube/transport.h"

namespace cnpa {

class Client {
 public:
  /// Gets each item of a list, to parse in place.
  using OnItem = std::function<Status(std::string& item)>;
  using OnStatus = std::function<void(Status)>;
  using OnBody = std::function<void(Result<std::string>)>;

  /// `request_timeout` bounds each request but lists, which have the pass's time.
  Client(Transport& transport, std::chrono::milliseconds request_timeout)
      : transport_(transport), request_timeout_(request_timeout) {}

  /// Begins to list `collection`, page after page if the server pages. A read that failed for a passing
  /// reason is made again a few times; `on_restart` is then called first, and whatever came before is void.
  ///
  /// Errors:  of `on_done`: kDenied, kNotFound (no such collection), kUnavailable, kMalformed. kDenied is not said
  ///          of a server that has just started and knows no rights yet.
  void List(const Collection& collection, std::function<void()> on_restart, OnItem on_item, OnStatus on_done);

  /// Begins to read one object or document.
  void Get(std::string path, OnBody on_done);

  /// Begins to put a question that is asked by POST, such as a SelfSubjectAccessReview: its answer is the body, and
  /// nothing is stored by it, so it is no write.
  void Ask(std::string path, std::string body, OnBody on_done);

  /// Begins a write. It is made again only where the server says that it did not happen: 429.
  void Write(Request request, OnStatus on_done);

  /// Performs what was begun.
  void RunUntilIdle() { transport_.RunUntilIdle(); }
  bool stopping() const { return transport_.stopping(); }

  std::uint64_t writes() const { return writes_; }  ///< Sent so far, those that were refused included.

 private:
  struct Listing;
  void ForBody(Request request, OnBody on_done);
  void ListPage(const std::shared_ptr<Listing>& listing);
  void FinishPage(const std::shared_ptr<Listing>& listing, Result<Response> response);
  void RetryOrFail(const std::shared_ptr<Listing>& listing, Error error, const std::string& retry_after);
  void BlameRightsOrStart(const std::shared_ptr<Listing>& listing, Error error);
  void WriteAttempt(const std::shared_ptr<Request>& request, int attempt, OnStatus on_done);

  Transport& transport_;
  std::chrono::milliseconds request_timeout_;
  std::uint64_t writes_ = 0;
};

/// Returns how long to wait before a request is made again: what `Retry-After` says, in seconds, if that is
/// short enough to be worth it within a pass; else a quarter of a second, doubled with each `attempt` (from
/// 0). Nothing: don't.
std::optional<std::chrono::milliseconds> RetryDelay(const std::string& retry_after, int attempt);

}  // namespace cnpa
