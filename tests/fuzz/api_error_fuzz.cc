// SPDX-License-Identifier: Apache-2.0
//
// A refusal, with each code that matters.
#include <optional>
#include <string>

#include "fuzz.h"
#include "kube/api/client.h"
#include "kube/http/api_error.h"

namespace cnpa {
namespace {

// Of a line that people read: verb, path, code, and what the server says, which is cut.
constexpr std::size_t kLongestLine = 1000;

void FuzzCode(int code, std::string_view body) {
  const Request request{.method = Method::kPatch, .path = "/apis/a/b?fieldManager=cnpa-op"};
  Response response;
  response.code = code;
  response.body = body;
  const ApiError error = DecodeApiError(request, response);
  Require(error.code == code && error.path == "/apis/a/b", "code and path are the request's");
  RequireOneLine(error.message);

  for (const Purpose purpose : {Purpose::kRead, Purpose::kWrite}) {
    const Error told = ToError(error, purpose);
    Require(told.code == ClassifyApiError(error, purpose), "what is told is of the kind that is acted on");
    RequireOneLine(told.message);
    Require(told.message.size() <= kLongestLine, "one line that can be read");
    if (code == 403 && told.code == ErrorCode::kDenied)
      Require(ParseMissingRight(error).has_value(), "names the right");
  }
}

}  // namespace

void Fuzz(std::string_view text) {
  for (const int code : {300, 400, 401, 403, 404, 409, 410, 415, 422, 429, 500, 503}) FuzzCode(code, text);
  if (const std::optional<std::string> warning = WarningText("299 - \"" + std::string(text) + "\"")) {
    Require(!warning->empty(), "a warning has words");
  }
}

}  // namespace cnpa
