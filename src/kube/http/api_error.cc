// SPDX-License-Identifier: Apache-2.0
#include "kube/http/api_error.h"

#include <algorithm>

#include "base/text.h"
#include "core/permissions/grant.h"
#include "kube/json/json.h"

namespace cnpa {
namespace {

/// Returns whether a Status with this reason and message is the word of an admission webhook or policy: that is told by
/// the server's words around theirs, and by nothing else. Code, reason and details are of their own choosing.
///
/// Source:  k8s.io/apiserver/pkg/admission/plugin/webhook/errors and .../policy; tried on 1.37.2.
bool IsOfAdmission(std::string_view reason, std::string_view message) {
  if (message.starts_with("admission webhook \"") && Contains(message, "\" denied the request")) return true;
  if (Contains(message, "' with binding '") && Contains(message, "' denied request: ")) return true;
  // A webhook that fails answers 500 until somebody fixes it, and the team should hear of it. Any other 500 is the
  // server's own problem, or its storage's: it says nothing of what we sent, and another spec would not help.
  return reason == "InternalError" && Contains(message, "webhook");
}

void DecodeStatus(const JsonReader& root, ApiError& error) {
  const std::string message = root.OptionalString("message");
  error.reason = OneLine(root.OptionalString("reason"));
  error.message = OneLine(message);
  error.by_admission = IsOfAdmission(error.reason, message);
  const JsonReader details = root.Object("details");
  details.EachKey([&error](std::string_view) { error.has_details = true; });
  error.object_kind = details.OptionalString("kind");
  error.object_name = details.OptionalString("name");
  for (const JsonReader& cause : details.Objects("causes")) {
    error.causes.push_back({OneLine(cause.OptionalString("reason")), OneLine(cause.OptionalString("message")),
                            OneLine(cause.OptionalString("field"))});
  }
}

bool HasCause(const ApiError& error, std::string_view type) {
  return std::any_of(error.causes.begin(), error.causes.end(),
                     [type](const StatusCause& cause) { return cause.type == type; });
}

/// Nobody may put a finalizer on what is being deleted: the deletion came between our list and our patch.
bool RefusesFinalizer(const ApiError& error) {
  return std::any_of(error.causes.begin(), error.causes.end(), [](const StatusCause& cause) {
    return cause.type == "FieldValueForbidden" && cause.field == "metadata.finalizers";
  });
}

/// Returns the quoted word that follows `before` in `text`.
std::string QuotedAfter(std::string_view text, std::string_view before) {
  const std::size_t start = text.find(before);
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start + before.size());
  return std::string(text.substr(0, text.find('"')));
}

/// Returns whether `segments`, such as "/namespaces/team-red", are whole segments of the path in a row.
bool HasSegments(std::string_view path, const std::string& segments) {
  const std::size_t start = path.find(segments + "/");
  return start != std::string_view::npos || path.ends_with(segments);
}

/// A `test` of a JSON Patch that failed, or a path in it that is not there. A value that was refused has details.
bool IsFailedTest(const ApiError& error) {
  return error.reason == "Invalid" && !error.has_details &&
         error.message == "the server rejected our request due to an error in our request";
}

/// What was to be created is there already.
bool IsThereAlready(const ApiError& error) {
  return error.reason == "AlreadyExists" && error.path.ends_with("/" + error.object_kind);
}

/// What was to be written is not there, or the namespace that it is in.
bool IsGone(const ApiError& error) {
  return error.reason == "NotFound" && HasSegments(error.path, "/" + error.object_kind + "/" + error.object_name);
}

/// Classifies an answer 404, 409 or 422 to a write. Those that say what became of its object are listed; any other is
/// a refusal, whoever it comes from.
ErrorCode ClassifyRace(const ApiError& error) {
  if (error.code == 404 && IsGone(error)) return ErrorCode::kNotFound;
  if (error.verb == "POST") {
    if (error.code != 409 || !IsThereAlready(error)) return ErrorCode::kInvalid;
    return error.message.starts_with("object is being deleted:") ? ErrorCode::kTerminating : ErrorCode::kConflict;
  }
  const bool another =
      error.code == 409 && error.reason == "Conflict" && HasSegments(error.path, "/" + error.object_name);
  // FieldValueDuplicate: another pass has put the same entry into a list meanwhile; we never send two of one key.
  const bool changed =
      error.code == 422 && (IsFailedTest(error) || RefusesFinalizer(error) || HasCause(error, "FieldValueDuplicate"));
  return another || changed ? ErrorCode::kConflict : ErrorCode::kInvalid;
}

}  // namespace

ApiError DecodeApiError(const Request& request, const Response& response) {
  ApiError error{.verb = std::string(MethodName(request.method)),
                 .path = request.path.substr(0, request.path.find('?')),
                 .code = response.code,
                 .reason = {},
                 .message = {},
                 .causes = {}};
  std::string body = response.body;
  if (WithinDepth(body)) {
    JsonDocument document;
    if (document.Parse(body)) {
      DecodeStatus(document.root(), error);
      if (document.status() && !error.message.empty()) return error;
    }
  }
  error.message = OneLine(response.body);
  return error;
}

ErrorCode ClassifyApiError(const ApiError& error, Purpose purpose) {
  const bool writes = purpose == Purpose::kWrite;
  // What a webhook says of a read, a conversion, may pass like any other failure of the server.
  if (writes && error.by_admission) return ErrorCode::kInvalid;
  if (error.code == 401) return ErrorCode::kDenied;
  if (error.code == 403) {
    if (HasCause(error, "NamespaceTerminating")) return ErrorCode::kTerminating;
    return ParseMissingRight(error) ? ErrorCode::kDenied : ErrorCode::kInvalid;
  }
  if (writes && (error.code == 404 || error.code == 409 || error.code == 422)) return ClassifyRace(error);
  if (error.code == 404) return ErrorCode::kNotFound;
  if (error.code == 410 || error.code == 429) return ErrorCode::kUnavailable;
  // A write that was not understood as such: nothing that another value in it would fix.
  // Only webhooks that were registered before admissionregistration.k8s.io/v1 can be so.
  if (error.code == 400 && error.message.ends_with("does not support dry run")) return ErrorCode::kUnsupported;
  const bool not_understood = error.code == 405 || error.code == 406 || error.code == 413 || error.code == 415;
  if (not_understood && error.verb != "GET") return ErrorCode::kMalformed;
  if (error.code >= 500) return ErrorCode::kUnavailable;
  return ErrorCode::kInvalid;
}

std::optional<MissingRight> ParseMissingRight(const ApiError& error) {
  if (error.code != 403 || error.by_admission) return std::nullopt;
  MissingRight right{QuotedAfter(error.message, "User \""), {}, QuotedAfter(error.message, "resource \"")};
  const std::size_t verb = error.message.find("\" cannot ");
  if (verb == std::string::npos || right.resource.empty()) return std::nullopt;
  const std::string_view rest = std::string_view(error.message).substr(verb + std::string_view("\" cannot ").size());
  right.verb = rest.substr(0, rest.find(' '));
  return right;
}

Error ToError(const ApiError& error, Purpose purpose) {
  const ErrorCode code = ClassifyApiError(error, purpose);
  if (const std::optional<MissingRight> right = ParseMissingRight(error)) {
    if (right->user == "system:anonymous") {
      return {code,
              "unauthorized: the server took no credentials from us (it says 'system:anonymous'): check the user "
              "in the kubeconfig"};
    }
    return {code, "forbidden: user \"" + right->user + "\" cannot " + right->verb + " " + right->resource + ": " +
                      GrantAdvice(right->user)};
  }
  if (code == ErrorCode::kDenied) return {code, "unauthorized: the server refuses our credentials"};
  std::string message = error.verb + " " + error.path + ": " + std::to_string(error.code);
  if (error.code >= 300 && error.code < 400) {
    return {code, message + ": a redirect, which is not followed: check 'server' in the kubeconfig, and the proxy"};
  }
  if (!error.reason.empty()) message += " " + error.reason;
  return {code, message + (error.message.empty() ? " without a body" : ": " + error.message)};
}

bool RefusesCredentials(const Request& request, const Response& response) {
  return response.code == 401 && !DecodeApiError(request, response).by_admission;
}

}  // namespace cnpa
