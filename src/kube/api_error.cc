// SPDX-License-Identifier: Apache-2.0
#include "kube/api_error.h"

#include <algorithm>

#include "base/text.h"
#include "core/grant.h"
#include "kube/json.h"

namespace cnpa {
namespace {

void DecodeStatus(const JsonReader& root, ApiError& error) {
  error.reason = OneLine(root.OptionalString("reason"));
  error.message = OneLine(root.OptionalString("message"));
  const JsonReader details = root.Object("details");
  details.EachKey([&error](std::string_view) { error.has_details = true; });
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

/// A webhook that fails answers 500 until somebody mends it, and the team should hear of it. Any other 500 is the
/// server's own trouble, or its storage's: it says nothing of what we sent, and another spec would not help.
bool IsOfWebhook(const ApiError& error) {
  return error.reason == "InternalError" && Contains(error.message, "webhook");
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

ErrorCode ClassifyApiError(const ApiError& error) {
  if (error.code == 401) return ErrorCode::kDenied;
  if (error.code == 403) {
    if (HasCause(error, "NamespaceTerminating")) return ErrorCode::kTerminating;
    return ParseMissingRight(error) ? ErrorCode::kDenied : ErrorCode::kInvalid;
  }
  if (error.code == 404) return ErrorCode::kNotFound;
  if (error.code == 409) {
    return error.message.starts_with("object is being deleted:") ? ErrorCode::kTerminating : ErrorCode::kConflict;
  }
  // A `test` of a JSON Patch that failed comes without details; a value that was refused has them.
  if (error.code == 422 && RefusesFinalizer(error)) return ErrorCode::kConflict;
  // An entry that another pass has put into the same list meanwhile: we never send two of one key.
  if (error.code == 422 && HasCause(error, "FieldValueDuplicate")) return ErrorCode::kConflict;
  if (error.code == 422) return error.has_details ? ErrorCode::kInvalid : ErrorCode::kConflict;
  if (error.code == 410 || error.code == 429) return ErrorCode::kUnavailable;
  if (error.code == 500) return IsOfWebhook(error) ? ErrorCode::kInvalid : ErrorCode::kUnavailable;
  // A write that was not understood as such: nothing that another value in it would mend.
  // Only webhooks that were registered before admissionregistration.k8s.io/v1 can be so.
  if (error.code == 400 && error.message.ends_with("does not support dry run")) return ErrorCode::kUnsupported;
  const bool not_understood = error.code == 405 || error.code == 406 || error.code == 413 || error.code == 415;
  if (not_understood && error.verb != "GET") return ErrorCode::kMalformed;
  if (error.code > 500) return ErrorCode::kUnavailable;
  return ErrorCode::kInvalid;
}

std::optional<MissingRight> ParseMissingRight(const ApiError& error) {
  if (error.code != 403) return std::nullopt;
  MissingRight right{QuotedAfter(error.message, "User \""), {}, QuotedAfter(error.message, "resource \"")};
  const std::size_t verb = error.message.find("\" cannot ");
  if (verb == std::string::npos || right.resource.empty()) return std::nullopt;
  const std::string_view rest = std::string_view(error.message).substr(verb + std::string_view("\" cannot ").size());
  right.verb = rest.substr(0, rest.find(' '));
  return right;
}

Error ToError(const ApiError& error) {
  const ErrorCode code = ClassifyApiError(error);
  if (const std::optional<MissingRight> right = ParseMissingRight(error)) {
    if (right->user == "system:anonymous") {
      return {code,
              "unauthorized: the server took no credentials from us (it says 'system:anonymous'): check the user "
              "in the kubeconfig"};
    }
    return {code, "forbidden: user \"" + right->user + "\" cannot " + right->verb + " " + right->resource +
                      ": " + GrantAdvice(right->user)};
  }
  if (error.code == 401) return {code, "unauthorized: the server refuses our credentials"};
  std::string message = error.verb + " " + error.path + ": " + std::to_string(error.code);
  if (error.code >= 300 && error.code < 400) {
    return {code, message + ": a redirect, which is not followed: check 'server' in the kubeconfig, and the proxy"};
  }
  if (!error.reason.empty()) message += " " + error.reason;
  return {code, message + (error.message.empty() ? " without a body" : ": " + error.message)};
}

}  // namespace cnpa
