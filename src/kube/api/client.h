// SPDX-License-Identifier: Apache-2.0
//
// Requests as a pass makes them: lists that are complete or fail, writes that are made once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "kube/api/dry_run.h"
#include "kube/api/retry.h"
#include "kube/codec/codec.h"
#include "kube/http/api_error.h"
#include "kube/http/transport.h"

namespace cnpa {

/// How many requests there were by their verb, in Kubernetes' words ("list", "get", "create", "patch", "delete"), and
/// the code of their answer, 0 where no whole answer came.
using RequestCounts = std::map<std::pair<std::string_view, int>, std::uint64_t>;

class Client {
 public:
  /// Gets each item of a list, to parse in place.
  using OnItem = std::function<Status(std::string& item)>;
  using OnStatus = std::function<void(Status)>;
  using OnListed = std::function<void(Result<std::string> resource_version)>;
  using OnBody = std::function<void(Result<std::string>)>;

  struct Hooks {
    std::function<void(const std::string&)> on_warning;  ///< Gets each warning that the server sends, once.
    std::function<double()> random;                      ///< From [0, 1), for the times between tries.
  };

  /// `request_timeout` bounds each request but lists, which have the pass's time. With kDryRun nothing that this client
  /// sends is ever kept by the server.
  Client(Transport& transport, std::chrono::milliseconds request_timeout, Hooks hooks = {},
         WriteMode mode = WriteMode::kReal)
      : transport_(transport),
        mode_(mode),
        request_timeout_(request_timeout),
        on_warning_(std::move(hooks.on_warning)),
        retries_(std::move(hooks.random)) {}

  /// Begins to list `collection`, page after page if the server pages; `on_done` gets the resourceVersion at which the
  /// list holds. A read that failed for a passing
  /// reason is made again a few times; `on_restart` is then called first, and whatever came before is void.
  ///
  /// Errors:  of `on_done`: kDenied, kNotFound (no such collection), kUnavailable, kMalformed. kDenied is not said
  ///          of a server that has just started and knows no permissions yet: only if its /readyz says 200. If that is
  ///          refused as well, some tries in a row, both causes are named.
  void List(const Collection& collection, std::function<void()> on_restart, OnItem on_item, OnListed on_done);

  /// Begins to watch `collection` for what happens after `resource_version`, until the pass's deadline or Abandon();
  /// `on_line` gets each event, to parse in place. It is not made again: whoever watches lists anew.
  ///
  /// Errors:  of `on_done`, which gets none when the server ends the watch: kDenied, which a server that has just
  /// started
  ///          says too, kNotFound, kUnavailable, kStopped, and what `on_line` returned.
  void Watch(const Collection& collection, const std::string& resource_version, OnItem on_line, OnStatus on_done);

  /// Begins to read one object or document; again a few times when that failed for a passing reason.
  void Get(std::string path, OnBody on_done);

  /// Begins to put a question that is asked by POST, such as a SelfSubjectAccessReview: its answer is the body, and
  /// nothing is stored by it, so it is no write, and is made again as Get() is.
  void Ask(std::string path, std::string body, OnBody on_done);

  /// Begins a write on which nothing depends, such as an event: it has a few seconds, is made once, counts as no write,
  /// and is held against nobody when it fails.
  void Tell(Request request, OnBody on_done);

  /// Begins a write; `on_done` gets the answer, which is an object of Kubernetes. It is made again only where it surely
  /// did not happen: the server says 429, or was not reached.
  ///
  /// Errors:  of `on_done`: kConflict and kNotFound only where the server says so of what was written; kUnavailable
  ///          also for an answer that can't be read, since the write may have happened.
  void Write(Request request, OnBody on_done);

  /// Gives up what was begun, once `after` has passed.
  void Abandon(std::chrono::milliseconds after) { transport_.Abandon(after); }

  /// Returns how much is left until the pass's deadline; at least 0.
  std::chrono::milliseconds time_left() const { return transport_.time_left(); }

  /// Moves the pass's deadline.
  void set_time_left(std::chrono::milliseconds left) { transport_.set_time_left(left); }

  /// Performs what was begun.
  void RunUntilIdle() { transport_.RunUntilIdle(); }

  /// Returns whether nothing new shall be begun: the pass ends, or the server fails too often.
  bool stopping() const { return transport_.stopping() || exhausted(); }
  bool exhausted() const { return retries_.exhausted(); }

  WriteMode mode() const { return mode_; }

  std::uint64_t writes() const { return writes_; }  ///< Made so far; those that may have been made are among them.

  /// Sent so far, each try for itself; those that the end of the pass kept from being sent are not among them.
  const RequestCounts& requests() const { return requests_; }

 private:
  struct Listing;
  struct Question;
  void GetOnce(std::string path, OnBody on_done);
  void ForBody(Request request, Purpose purpose, std::chrono::milliseconds timeout, int attempts, OnBody on_done);
  void AskAttempt(const std::shared_ptr<Question>& question);
  void FinishAsk(const std::shared_ptr<Question>& question, Result<Response> response);
  void ListPage(const std::shared_ptr<Listing>& listing);
  void FinishPage(const std::shared_ptr<Listing>& listing, Result<Response> response);
  void RetryOrFail(const std::shared_ptr<Listing>& listing, Error error, const Response& answer);
  void BlameRightsOrStart(const std::shared_ptr<Listing>& listing, const ApiError& refused);
  void WriteAttempt(const std::shared_ptr<Request>& request, int attempt, OnBody on_done);
  void FinishWrite(const std::shared_ptr<Request>& request, int attempt, const OnBody& on_done,
                   Result<Response> response);
  void Start(Request request, Transport::OnDone on_done);

  Transport& transport_;
  WriteMode mode_;
  std::chrono::milliseconds request_timeout_;
  std::function<void(const std::string&)> on_warning_;
  Retries retries_;
  std::set<std::string> warned_;
  std::uint64_t writes_ = 0;
  RequestCounts requests_;
};

/// Returns the text of a `Warning` header's value such as `299 - "text"`; nothing when it is another code, or no
/// warning.
///
/// Source:  RFC 7234, section 5.5; Kubernetes sends code 299 only.
std::optional<std::string> WarningText(std::string_view value);

}  // namespace cnpa
