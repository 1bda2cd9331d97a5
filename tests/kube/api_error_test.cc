// SPDX-License-Identifier: Apache-2.0
#include "kube/api_error.h"

#include <string>
#include <vector>

#include "support/answers.h"
#include "support/catch.h"
#include "support/text.h"

namespace cnpa {
namespace {

Error ErrorFor(Method method, const std::string& path, const Response& response) {
  return ToError(DecodeApiError({.method = method, .path = path}, response));
}

Response Status(int code, const std::string& reason, const std::string& message, const std::string& details = "{}") {
  Response response;
  response.code = code;
  response.body = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" + message +
                  R"(","reason":")" + reason + R"(","details":)" + details + R"(,"code":)" + std::to_string(code) + "}";
  return response;
}

Response Text(int code, const std::string& body) {
  Response response;
  response.code = code;
  response.body = body;
  return response;
}

TEST_CASE("ToError says of each answer of a real server what a caller can do about it", "[kube][api_error]") {
  const std::string rbac_hint = ": cnpa-op rbac | kubectl apply -f -";
  struct Case {
    std::string file;
    ErrorCode code;
    std::string want;
  };
  const std::vector<Case> cases{
      {"404-no-crd.txt", ErrorCode::kNotFound, "GET /p: 404: 404 page not found"},
      {"401-bad-token.json", ErrorCode::kDenied, "unauthorized: the server refuses our credentials"},
      {"403-anonymous.json", ErrorCode::kDenied,
       "unauthorized: the server took no credentials from us (it says 'system:anonymous'): check the user in "
       "the kubeconfig"},
      {"403-list-teamspaces-rbac.json", ErrorCode::kDenied,
       "forbidden: user \"cnpa-op\" cannot list teamspaces" + rbac_hint},
      {"403-list-namespaces-rbac.json", ErrorCode::kDenied,
       "forbidden: user \"cnpa-op\" cannot list namespaces" + rbac_hint},
      {"403-list-resourcequotas-rbac.json", ErrorCode::kDenied,
       "forbidden: user \"cnpa-op\" cannot list resourcequotas" + rbac_hint},
      {"403-patch-status-rbac.json", ErrorCode::kDenied,
       "forbidden: user \"cnpa-op\" cannot patch teamspaces/status" + rbac_hint},
      {"403-create-namespace-rbac.json", ErrorCode::kDenied,
       "forbidden: user \"cnpa-op\" cannot create namespaces" + rbac_hint},
      {"403-create-resourcequota-rbac.json", ErrorCode::kDenied,
       "forbidden: user \"cnpa-op\" cannot create resourcequotas" + rbac_hint},
      {"403-create-in-terminating-namespace.json", ErrorCode::kTerminating,
       "GET /p: 403 Forbidden: resourcequotas \"team-quota\" is forbidden: unable to create new content in "
       "namespace team-delta because it is being terminated"},
      {"403-create-while-crd-goes.json", ErrorCode::kInvalid,
       "GET /p: 403 Forbidden: teamspaces.platform.labhub.io \"late\" is forbidden: create not allowed while "
       "custom resource definition is terminating"},
      {"404-create-in-missing-namespace.json", ErrorCode::kNotFound,
       "GET /p: 404 NotFound: namespaces \"team-none\" not found"},
      {"404-patch-missing-teamspace.json", ErrorCode::kNotFound,
       "GET /p: 404 NotFound: teamspaces.platform.labhub.io \"none\" not found"},
      {"409-namespace-exists.json", ErrorCode::kConflict,
       "GET /p: 409 AlreadyExists: namespaces \"team-alpha\" already exists"},
      {"409-namespace-is-being-deleted.json", ErrorCode::kTerminating,
       "GET /p: 409 AlreadyExists: object is being deleted: namespaces \"team-delta\" already exists"},
      {"409-delete-with-another-uid.json", ErrorCode::kConflict, ""},
      {"422-failed-test.json", ErrorCode::kConflict,
       "GET /p: 422 Invalid: the server rejected our request due to an error in our request"},
      {"422-failed-test-of-status.json", ErrorCode::kConflict,
       "GET /p: 422 Invalid: the server rejected our request due to an error in our request"},
      {"422-negative-quota.json", ErrorCode::kInvalid,
       "GET /p: 422 Invalid: ResourceQuota \"team-quota\" is invalid: spec.hard[pods]: Invalid value: \"-1\": "
       "must be greater than or equal to 0"},
      {"422-immutable-scopes.json", ErrorCode::kInvalid, ""},
      {"422-finalizer-on-deleting-object.json", ErrorCode::kConflict, ""},
      {"422-unknown-field-of-patch.json", ErrorCode::kInvalid, ""},
      {"400-unknown-field.json", ErrorCode::kInvalid,
       "GET /p: 400 BadRequest: TeamSpace in version \"v1alpha1\" cannot be handled as a TeamSpace: strict "
       "decoding error: unknown field \"spec.cpuu\""},
      {"400-patch-is-no-list.json", ErrorCode::kInvalid, ""},
      {"400-bad-quantity.json", ErrorCode::kInvalid, ""},
      {"415-strategic-patch-of-teamspace.json", ErrorCode::kInvalid, ""},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.file) {
      const Error error = ErrorFor(Method::kGet, "/p?q=1", Answer(c.file));
      CHECK(error.code == c.code);
      CHECK(error.message.find('\n') == std::string::npos);
      if (!c.want.empty()) {
        CHECK(error.message == c.want);
      }
    }
  }
}

TEST_CASE("ToError shows the end of a refused patch, whose message holds the whole object", "[kube][api_error]") {
  const Error error = ErrorFor(Method::kPatch, "/p", Answer("422-unknown-field-of-patch.json"));
  CAPTURE(error.message);
  CHECK(Contains(error.message, "unknown field \"status.colour\""));
  CHECK(error.message.size() < 500);
}

TEST_CASE("ToError says of answers that come while a server starts or stops that it is away", "[kube][api_error]") {
  const Response no_kind =
      Text(504, R"({"metadata":{},"status":"Failure","message":"Timeout: request did not complete within )"
                R"(the allotted timeout","reason":"Timeout","details":{},"code":504})");
  struct Case {
    std::string name;
    Response response;
    ErrorCode code;
    std::string want;
  };
  const std::vector<Case> cases{
      {"429 of a store that fills", Status(429, "TooManyRequests", "storage is (re)initializing"),
       ErrorCode::kUnavailable, "GET /p: 429 TooManyRequests: storage is (re)initializing"},
      {"429 of a filter, as text", Text(429, "Too many requests, please try again later.\n"), ErrorCode::kUnavailable,
       "GET /p: 429: Too many requests, please try again later."},
      {"503 while it starts",
       Status(503, "ServiceUnavailable", "the request has been made before all known HTTP paths have been installed"),
       ErrorCode::kUnavailable,
       "GET /p: 503 ServiceUnavailable: the request has been made before all known HTTP paths have been "
       "installed"},
      {"503 while it stops", Status(503, "ServiceUnavailable", "apiserver is shutting down"), ErrorCode::kUnavailable,
       "GET /p: 503 ServiceUnavailable: apiserver is shutting down"},
      {"504 without kind and apiVersion", no_kind, ErrorCode::kUnavailable,
       "GET /p: 504 Timeout: Timeout: request did not complete within the allotted timeout"},
      {"502 of a proxy", Text(502, "<html>\r\n<head><title>502</title></head>\r\n</html>\r\n"), ErrorCode::kUnavailable,
       "GET /p: 502: <html>  <head><title>502</title></head>  </html>"},
      {"410 of a list that became too old", Status(410, "Expired", "too old"), ErrorCode::kUnavailable,
       "GET /p: 410 Expired: too old"},
      {"500 of etcd", Status(500, "InternalError", "etcdserver: request timed out"), ErrorCode::kUnavailable,
       "GET /p: 500 InternalError: etcdserver: request timed out"},
      {"500 of SQLite", Status(500, "InternalError", "rpc error: database is locked"), ErrorCode::kUnavailable,
       "GET /p: 500 InternalError: rpc error: database is locked"},
      {"500 of a server that ends, and does not reach itself",
       Status(500, "InternalError", "Internal error occurred: Get \\\"https://[::1]:6443/api\\\": connection refused"),
       ErrorCode::kUnavailable,
       "GET /p: 500 InternalError: Internal error occurred: Get \"https://[::1]:6443/api\": connection refused"},
      {"500 of a quota that was not counted in time",
       Status(500, "InternalError", "Internal error occurred: resource quota evaluation timed out"),
       ErrorCode::kUnavailable,
       "GET /p: 500 InternalError: Internal error occurred: resource quota evaluation timed out"},
      {"500 without a body", Text(500, ""), ErrorCode::kUnavailable, "GET /p: 500 without a body"},
      {"500 of a webhook that nobody mends", Status(500, "InternalError", "failed calling webhook \\\"a.example\\\""),
       ErrorCode::kInvalid, "GET /p: 500 InternalError: failed calling webhook \"a.example\""},
      {"403 of an admission plugin",
       Status(403, "Forbidden", "namespaces \\\"team-x\\\" is forbidden: cannot set an ownerRef on a resource"),
       ErrorCode::kInvalid,
       "GET /p: 403 Forbidden: namespaces \"team-x\" is forbidden: cannot set an ownerRef on a resource"},
      {"422 of an entry that another pass has put into the same list",
       Status(422, "Invalid", "is invalid", R"({"name":"x","causes":[{"reason":"FieldValueDuplicate"}]})"),
       ErrorCode::kConflict, "GET /p: 422 Invalid: is invalid"},
      {"a webhook that was registered before dry runs had to be harmless",
       Status(400, "BadRequest", "admission webhook \\\"a.example\\\" does not support dry run"),
       ErrorCode::kUnsupported, "GET /p: 400 BadRequest: admission webhook \"a.example\" does not support dry run"},
      {"413", Text(413, "too large"), ErrorCode::kInvalid, "GET /p: 413: too large"},
      {"a redirect", Text(302, ""), ErrorCode::kInvalid,
       "GET /p: 302: a redirect, which is not followed: check 'server' in the kubeconfig, and the proxy"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ErrorFor(Method::kGet, "/p", c.response) == Error{c.code, c.want});
    }
  }
}

TEST_CASE("DecodeApiError keeps verb, path without query, reason, message and causes", "[kube][api_error]") {
  const ApiError error = DecodeApiError({.method = Method::kPost, .path = "/a/b?fieldManager=cnpa-op"},
                                        Answer("403-create-in-terminating-namespace.json"));
  CHECK(error == ApiError{.verb = "POST",
                          .path = "/a/b",
                          .code = 403,
                          .reason = "Forbidden",
                          .message = "resourcequotas \"team-quota\" is forbidden: unable to create new content "
                                     "in namespace team-delta because it is being terminated",
                          .has_details = true,
                          .causes = {{"NamespaceTerminating", "namespace team-delta is being terminated",
                                      "metadata.namespace"}}});
}

TEST_CASE("DecodeApiError takes what is no Status as text: one line of it", "[kube][api_error]") {
  const auto message = [](const std::string& body) {
    return DecodeApiError({.method = Method::kGet, .path = "/p"}, Text(500, body)).message;
  };
  CHECK(message("line one\nline two\r\n") == "line one line two");
  CHECK(message("\x1b[31mred") == "[31mred");
  CHECK(message("a\x7f"
                "b") == "a b");
  CHECK(message("{\"message\":1}") == "{\"message\":1}");
  CHECK(message("{}") == "{}");
  CHECK(message(std::string(1000, '[')) == std::string(150, '[') + " ... " + std::string(150, '['));
  CHECK(message(std::string(5000, 'x')) == std::string(150, 'x') + " ... " + std::string(150, 'x'));
  CHECK(message(R"({"message":"one\ntwo"})") == "one two");
}

TEST_CASE("DecodeApiError cuts between characters, and what is not UTF-8 anywhere", "[kube][api_error]") {
  const auto message = [](const std::string& body) {
    return DecodeApiError({.method = Method::kGet, .path = "/p"}, Text(500, body)).message;
  };
  const std::string a_umlaut = "\xc3\xa4";
  std::string odd = "x";  // So that byte 150 from the front is the second of a character, and from the end the first.
  for (int i = 0; i < 300; ++i) odd += a_umlaut;
  const std::string cut = message(odd);
  CHECK(cut.starts_with(odd.substr(0, 149) + " ... " + a_umlaut));
  CHECK(cut.ends_with(a_umlaut));
  CHECK(message(std::string(5000, '\x80')).size() < 310);
}

TEST_CASE("ToError stays on one line whatever the reason is", "[kube][api_error]") {
  CHECK(ErrorFor(Method::kGet, "/p", Text(400, R"({"message":"m","reason":"a\nb\u001b[2J"})")) ==
        Error{ErrorCode::kInvalid, "GET /p: 400 a b [2J: m"});
  CHECK(ErrorFor(Method::kGet, "/p", Status(400, std::string(5000, 'x'), "m")).message.size() < 400);
}

TEST_CASE("DecodeApiError tells details with members from empty ones", "[kube][api_error]") {
  const auto has_details = [](const std::string& details) {
    return DecodeApiError({}, Status(422, "Invalid", "m", details)).has_details;
  };
  CHECK_FALSE(has_details("{}"));
  CHECK_FALSE(has_details("null"));
  CHECK(has_details(R"({"name":"x"})"));
}

TEST_CASE("ParseMissingRight reads user, verb and resource out of an RBAC refusal only", "[kube][api_error]") {
  const auto parse = [](const std::string& file) {
    return ParseMissingRight(DecodeApiError({.method = Method::kGet, .path = "/p"}, Answer(file)));
  };
  const auto right = parse("403-patch-status-rbac.json");
  REQUIRE(right);
  CHECK(right->user == "cnpa-op");
  CHECK(right->verb == "patch");
  CHECK(right->resource == "teamspaces/status");
  CHECK_FALSE(parse("403-create-in-terminating-namespace.json"));
  CHECK_FALSE(parse("403-create-while-crd-goes.json"));
  CHECK_FALSE(parse("404-patch-missing-teamspace.json"));
}

TEST_CASE("ClassifyApiError takes a write that was not understood for no fault of a value in it", "[kube][api_error]") {
  for (const int code : {405, 406, 413, 415}) {
    CHECK(ErrorFor(Method::kPatch, "/p", Text(code, "no")).code == ErrorCode::kMalformed);
    CHECK(ErrorFor(Method::kGet, "/p", Text(code, "no")).code == ErrorCode::kInvalid);
  }
}

}  // namespace
}  // namespace cnpa
