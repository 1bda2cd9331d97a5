// SPDX-License-Identifier: Apache-2.0
//
// Errors are values. The code says what a caller can do about it, the message what a person can.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace cnpa {

enum class ErrorCode {
  kInvalid,      ///< Refused for a lasting reason: flags, files, a value the server rejects. A person must act.
  kDenied,       ///< The server knows us, or does not, and says no: HTTP 401, 403 of RBAC.
  kNotFound,     ///< It is not there.
  kConflict,     ///< A lost race: somebody else wrote first.
  kTerminating,  ///< It, or the namespace it lives in, is on its way out: wait.
  kUnreachable,  ///< Not now, and nothing can have happened: no connection, no TLS, nothing was sent.
  kUnavailable,  ///< Not now: connection lost, timeout, HTTP 429 and most 5xx. A write may have happened.
  kMalformed,    ///< An answer or a file that does not decode.
  kUnsupported,  ///< The server can't say what would come of it: a webhook has effects that no dry run may have.
  kStopped,      ///< Not sent, or abandoned: the pass was told to end, or its time is over.
};

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string message;  ///< Lower case, outermost context first, no full stop, never a secret.

  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// Returns `error` with `context` in front: "<context>: <message>".
inline tl::unexpected<Error> Annotate(Error error, std::string_view context) {
  error.message.insert(0, std::string(context) + ": ");
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace cnpa
