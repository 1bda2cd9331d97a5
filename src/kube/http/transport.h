// SPDX-License-Identifier: Apache-2.0
//
// The one virtual seam: HTTP requests to one API server. Everything above it runs the same on a real server
// and in a test's memory.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cnpa {

enum class Method { kGet, kPost, kPatch, kDelete };

/// Returns "GET", "POST", "PATCH" or "DELETE".
std::string_view MethodName(Method method);

struct Request {
  Method method = Method::kGet;
  std::string path;          ///< From "/" on, with the query, escaped.
  std::string content_type;  ///< Of `body`; empty without one.
  std::string body;
  std::chrono::milliseconds timeout{0};  ///< From start to last byte; 0: only the pass's deadline counts.
  std::chrono::milliseconds delay{0};    ///< Is sent this much later.

  /// Set: gets the body of an answer 200 as it arrives, and Response::body stays empty. An error ends the request.
  std::function<Status(std::string_view)> on_body;

  /// Set: an answer that goes on for as long as something may happen. It may be silent for long, and is given up at
  /// once when the pass is told to end.
  bool is_watch = false;
};

struct Response {
  int code = 0;
  std::string content_type;
  std::string retry_after;            ///< As sent: seconds or a date.
  std::string date;                   ///< As sent: when the server answered, by its own clock.
  std::vector<std::string> warnings;  ///< Values of `Warning` headers.
  std::string body;
};

/// Returns what to say behind the message on an answer that does not decode: what it is, unless it says it is JSON.
std::string NotJsonWords(const std::string& content_type);

class Transport {
 public:
  using OnDone = std::function<void(Result<Response>)>;

  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  Transport(Transport&&) = delete;
  Transport& operator=(Transport&&) = delete;

  /// Begins `request`. `on_done` is called once, from RunUntilIdle(), and may start further requests. An
  /// answer of any HTTP code is a Response.
  ///
  /// Errors:  kUnreachable when nothing could be sent; kUnavailable when no whole answer came; kStopped when the pass
  /// was told to end or its deadline passed
  ///          before the request was sent, or it was given up; what `on_body` returned.
  virtual void Start(Request request, OnDone on_done) = 0;

  /// Performs requests until none is left.
  virtual void RunUntilIdle() = 0;

  /// Gives up all that was begun, once `after` has passed: it ends with kStopped. May be called from `on_body` and from
  /// `on_done`.
  virtual void Abandon(std::chrono::milliseconds after) = 0;

  /// Moves the pass's deadline to `left` from now.
  virtual void set_time_left(std::chrono::milliseconds left) = 0;

  /// Returns whether nothing new shall be begun: the pass was told to end, or its deadline passed.
  virtual bool stopping() const = 0;

  /// Returns how much is left until the pass's deadline; at least 0.
  virtual std::chrono::milliseconds time_left() const = 0;
};

}  // namespace cnpa
