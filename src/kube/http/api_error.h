// SPDX-License-Identifier: Apache-2.0
//
// What the API server says when it says no, and what a caller can do about it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/http/transport.h"

namespace cnpa {

/// One entry of `details.causes` of a Status.
struct StatusCause {
  std::string type;  ///< Spelt "reason" in JSON.
  std::string message;
  std::string field;

  bool operator==(const StatusCause&) const = default;
};

/// A refused request. Bodies that are no Status (a proxy's page, "404 page not found") leave their text in `message`.
///
/// Source:  k8s.io/apimachinery/pkg/apis/meta/v1, Status.
struct ApiError {
  std::string verb;  ///< "GET", "PATCH", ...
  std::string path;  ///< Without the query.
  int code = 0;
  std::string reason;  ///< "NotFound", "Conflict", ...; may be empty.
  std::string message;
  bool has_details = false;  ///< `details` has members: with Invalid, what tells a refused value from a failed test.
  std::string object_kind;   ///< `details.kind`: "namespaces", or the kind itself.
  std::string object_name;   ///< `details.name`.
  std::vector<StatusCause> causes;
  bool by_admission = false;  ///< An admission webhook or policy denied the request, or could not be asked about it.

  bool operator==(const ApiError&) const = default;
};

/// What a request was for. Only a write can lose a race, and what it was about can be gone.
enum class Purpose { kRead, kWrite };

/// Decodes the answer to `request`, whose code is 300 or more.
ApiError DecodeApiError(const Request& request, const Response& response);

/// Returns what a caller can do about it. Who spoke decides, not the code alone: what admission denies is refused with
/// whatever code it likes; a write has lost a race, or came too late, only where the server itself says so of the
/// object that was written.
ErrorCode ClassifyApiError(const ApiError& error, Purpose purpose);

/// Returns the error as one line: verb, path, code, reason, message; a missing right by verb and resource,
/// with the remedy.
Error ToError(const ApiError& error, Purpose purpose = Purpose::kRead);

/// Returns whether `response` says that the server does not know us: a 401 that is no denial by admission.
bool RefusesCredentials(const Request& request, const Response& response);

/// What an RBAC refusal is about: `User "U" cannot VERB resource "R" in API group "G" ...`.
struct MissingRight {
  std::string user;
  std::string verb;
  std::string resource;
};

/// Returns the missing right when `error` is an RBAC refusal.
///
/// Source:  k8s.io/apiserver/pkg/endpoints/handlers/responsewriters, forbiddenMessage.
std::optional<MissingRight> ParseMissingRight(const ApiError& error);

}  // namespace cnpa
