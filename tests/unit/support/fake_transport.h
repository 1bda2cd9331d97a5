// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/http/transport.h"

namespace cnpa {

/// Answers each request with what a function says, in the order in which they were begun, without waiting
/// for delays.
class FakeTransport : public Transport {
 public:
  using Handler = std::function<Result<Response>(const Request&)>;

  explicit FakeTransport(Handler handler) : handler_(std::move(handler)) {}

  void Start(Request request, OnDone on_done) override {
    queue_.push_back({std::move(request), std::move(on_done)});
    most_at_once = std::max(most_at_once, queue_.size());
  }

  /// A watch that is answered ends when nothing else is left.
  void RunUntilIdle() override {
    while (!queue_.empty() || !watches_.empty()) {
      if (queue_.empty() && std::exchange(abandoned_later_, false)) {
        DropAll();
        continue;
      }
      if (queue_.empty()) {
        const OnDone on_done = std::move(watches_.front());
        watches_.pop_front();
        on_done(Response{.code = 200});
        if (std::exchange(abandoned_, false)) DropAll();
        continue;
      }
      Pending next = std::move(queue_.front());
      queue_.pop_front();
      requests.push_back(next.request);
      Result<Response> response = handler_(next.request);
      if (response && response->code == 200 && next.request.on_body) {
        Status taken = FeedPieces(next.request, std::exchange(response->body, {}));
        if (!taken) response = tl::unexpected<Error>(taken.error());
      }
      if (response && response->code == 200 && next.request.is_watch) {
        watches_.push_back(std::move(next.on_done));
      } else {
        next.on_done(std::move(response));
      }
      if (std::exchange(abandoned_, false)) DropAll();
    }
  }

  void Abandon(std::chrono::milliseconds after) override {
    (after.count() == 0 ? abandoned_ : abandoned_later_) = true;
  }
  void set_time_left(std::chrono::milliseconds span) override { left = span; }
  bool stopping() const override { return stop; }
  std::chrono::milliseconds time_left() const override { return left; }

  /// Returns "GET /path" of each request so far.
  std::vector<std::string> Log() const {
    std::vector<std::string> lines;
    for (const Request& request : requests)
      lines.push_back(std::string(MethodName(request.method)) + " " + request.path);
    return lines;
  }

  std::vector<Request> requests;
  bool stop = false;
  std::chrono::milliseconds left{60000};
  std::size_t most_at_once = 0;   ///< Requests that were begun and had no answer yet.
  std::size_t piece_bytes = 100;  ///< How much of a body arrives at once.

 private:
  void DropAll() {
    for (Pending& pending : std::exchange(queue_, {})) {
      pending.on_done(tl::unexpected<Error>(Error{ErrorCode::kStopped, "given up"}));
    }
    for (const OnDone& on_done : std::exchange(watches_, {})) {
      on_done(tl::unexpected<Error>(Error{ErrorCode::kStopped, "given up"}));
    }
  }

  struct Pending {
    Request request;
    OnDone on_done;
  };

  Status FeedPieces(const Request& request, std::string_view body) const {
    while (!body.empty()) {
      if (Status taken = request.on_body(body.substr(0, piece_bytes)); !taken) return taken;
      body.remove_prefix(std::min(piece_bytes, body.size()));
    }
    return {};
  }

  Handler handler_;
  std::deque<Pending> queue_;
  std::deque<OnDone> watches_;
  bool abandoned_ = false;
  bool abandoned_later_ = false;  ///< Once what is there to be answered is.
};

}  // namespace cnpa
