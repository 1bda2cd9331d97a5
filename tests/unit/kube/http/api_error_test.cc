// SPDX-License-Identifier: Apache-2.0
#include "kube/http/api_error.h"

#include <string>
#include <vector>

#include "support/answers.h"
#include "support/catch.h"
#include "support/text.h"

namespace cnpa {
namespace {

/// What is not a GET is taken for a write.
Error ErrorFor(Method method, const std::string& path, const Response& response) {
  return ToError(DecodeApiError({.method = method, .path = path}, response),
                 method == Method::kGet ? Purpose::kRead : Purpose::kWrite);
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
    Method method;  // As it was recorded, like the path.
    std::string path;
    ErrorCode code;
    std::string want;
  };
  const std::vector<Case> cases{
      {"404-no-crd.txt", Method::kGet, "/apis/platform.labhub.io/v1alpha1/teamspaces", ErrorCode::kNotFound,
       "GET /apis/platform.labhub.io/v1alpha1/teamspaces: 404: 404 page not found"},
      {"401-bad-token.json", Method::kGet, "/apis/platform.labhub.io/v1alpha1/teamspaces", ErrorCode::kDenied,
       "unauthorized: the server refuses our credentials"},
      {"403-anonymous.json", Method::kGet, "/apis/platform.labhub.io/v1alpha1/teamspaces", ErrorCode::kDenied,
       "unauthorized: the server took no credentials from us (it says 'system:anonymous'): check the user in "
       "the kubeconfig"},
      {"403-list-teamspaces-rbac.json", Method::kGet, "/apis/platform.labhub.io/v1alpha1/teamspaces",
       ErrorCode::kDenied, "forbidden: user \"cnpa-op\" cannot list teamspaces" + rbac_hint},
      {"403-list-namespaces-rbac.json", Method::kGet, "/api/v1/namespaces", ErrorCode::kDenied,
       "forbidden: user \"cnpa-op\" cannot list namespaces" + rbac_hint},
      {"403-list-resourcequotas-rbac.json", Method::kGet, "/api/v1/resourcequotas", ErrorCode::kDenied,
       "forbidden: user \"cnpa-op\" cannot list resourcequotas" + rbac_hint},
      {"403-patch-status-rbac.json", Method::kPatch, "/apis/platform.labhub.io/v1alpha1/teamspaces/alpha/status",
       ErrorCode::kDenied, "forbidden: user \"cnpa-op\" cannot patch teamspaces/status" + rbac_hint},
      {"403-create-namespace-rbac.json", Method::kPost, "/api/v1/namespaces", ErrorCode::kDenied,
       "forbidden: user \"cnpa-op\" cannot create namespaces" + rbac_hint},
      {"403-create-resourcequota-rbac.json", Method::kPost, "/api/v1/namespaces/team-alpha/resourcequotas",
       ErrorCode::kDenied, "forbidden: user \"cnpa-op\" cannot create resourcequotas" + rbac_hint},
      {"403-create-in-terminating-namespace.json", Method::kPost, "/api/v1/namespaces/team-delta/resourcequotas",
       ErrorCode::kTerminating,
       "POST /api/v1/namespaces/team-delta/resourcequotas: 403 Forbidden: resourcequotas \"team-quota\" is forbidden: "
       "unable to create new content in "
       "namespace team-delta because it is being terminated"},
      {"403-create-while-crd-goes.json", Method::kPost, "/apis/platform.labhub.io/v1alpha1/teamspaces",
       ErrorCode::kInvalid,
       "POST /apis/platform.labhub.io/v1alpha1/teamspaces: 403 Forbidden: teamspaces.platform.labhub.io \"late\" is "
       "forbidden: create not allowed while "
       "custom resource definition is terminating"},
      {"404-create-in-missing-namespace.json", Method::kPost, "/api/v1/namespaces/team-none/resourcequotas",
       ErrorCode::kNotFound,
       "POST /api/v1/namespaces/team-none/resourcequotas: 404 NotFound: namespaces \"team-none\" not found"},
      {"404-patch-missing-teamspace.json", Method::kPatch, "/apis/platform.labhub.io/v1alpha1/teamspaces/none",
       ErrorCode::kNotFound,
       "PATCH /apis/platform.labhub.io/v1alpha1/teamspaces/none: 404 NotFound: teamspaces.platform.labhub.io \"none\" "
       "not found"},
      {"409-namespace-exists.json", Method::kPost, "/api/v1/namespaces", ErrorCode::kConflict,
       "POST /api/v1/namespaces: 409 AlreadyExists: namespaces \"team-alpha\" already exists"},
      {"409-namespace-is-being-deleted.json", Method::kPost, "/api/v1/namespaces", ErrorCode::kTerminating,
       "POST /api/v1/namespaces: 409 AlreadyExists: object is being deleted: namespaces \"team-delta\" already exists"},
      {"409-delete-with-another-uid.json", Method::kDelete, "/api/v1/namespaces/team-alpha/resourcequotas/team-quota",
       ErrorCode::kConflict, ""},
      {"422-failed-test.json", Method::kPatch, "/apis/platform.labhub.io/v1alpha1/teamspaces/alpha",
       ErrorCode::kConflict,
       "PATCH /apis/platform.labhub.io/v1alpha1/teamspaces/alpha: 422 Invalid: the server rejected our request due to "
       "an error in our request"},
      {"422-failed-test-of-status.json", Method::kPatch, "/apis/platform.labhub.io/v1alpha1/teamspaces/alpha/status",
       ErrorCode::kConflict,
       "PATCH /apis/platform.labhub.io/v1alpha1/teamspaces/alpha/status: 422 Invalid: the server rejected our request "
       "due to an error in our request"},
      {"422-negative-quota.json", Method::kPatch, "/api/v1/namespaces/team-alpha/resourcequotas/team-quota",
       ErrorCode::kInvalid,
       "PATCH /api/v1/namespaces/team-alpha/resourcequotas/team-quota: 422 Invalid: ResourceQuota \"team-quota\" is "
       "invalid: spec.hard[pods]: Invalid value: \"-1\": "
       "must be greater than or equal to 0"},
      {"422-immutable-scopes.json", Method::kPatch, "/api/v1/namespaces/team-alpha/resourcequotas/team-quota",
       ErrorCode::kInvalid, ""},
      {"422-finalizer-on-deleting-object.json", Method::kPatch, "/apis/platform.labhub.io/v1alpha1/teamspaces/omega",
       ErrorCode::kConflict, ""},
      {"422-unknown-field-of-patch.json", Method::kPatch, "/apis/platform.labhub.io/v1alpha1/teamspaces/alpha/status",
       ErrorCode::kInvalid, ""},
      {"400-unknown-field.json", Method::kPost, "/apis/platform.labhub.io/v1alpha1/teamspaces", ErrorCode::kInvalid,
       "POST /apis/platform.labhub.io/v1alpha1/teamspaces: 400 BadRequest: TeamSpace in version \"v1alpha1\" cannot be "
       "handled as a TeamSpace: strict "
       "decoding error: unknown field \"spec.cpuu\""},
      {"400-patch-is-no-list.json", Method::kPatch, "/api/v1/namespaces/team-alpha/resourcequotas/team-quota",
       ErrorCode::kInvalid, ""},
      {"400-bad-quantity.json", Method::kPost, "/api/v1/namespaces/team-sports/resourcequotas", ErrorCode::kInvalid,
       ""},
      {"415-strategic-patch-of-teamspace.json", Method::kPatch, "/apis/platform.labhub.io/v1alpha1/teamspaces/alpha",
       ErrorCode::kMalformed, ""},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.file) {
      const Error error = ErrorFor(c.method, c.path + "?q=1", Answer(c.file));
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
      {"500 of a conversion webhook that starts",
       Status(500, "InternalError", "conversion webhook for platform.labhub.io/v1, Kind=TeamSpace failed"),
       ErrorCode::kUnavailable,
       "GET /p: 500 InternalError: conversion webhook for platform.labhub.io/v1, Kind=TeamSpace failed"},
      {"403 of an admission plugin",
       Status(403, "Forbidden", "namespaces \\\"team-x\\\" is forbidden: cannot set an ownerRef on a resource"),
       ErrorCode::kInvalid,
       "GET /p: 403 Forbidden: namespaces \"team-x\" is forbidden: cannot set an ownerRef on a resource"},
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

TEST_CASE("ToError of a write asks who spoke, and takes nothing for a race that is none", "[kube][api_error]") {
  const std::string space = "/api/v1/namespaces/team-red";
  const std::string quota = space + "/resourcequotas/team-quota";
  const std::string team_space = "/apis/platform.labhub.io/v1alpha1/teamspaces/red";
  const std::string of_quota = R"({"name":"team-quota","kind":"resourcequotas"})";
  const std::string failed_test = "the server rejected our request due to an error in our request";
  struct Case {
    std::string name;
    Method method;
    std::string path;
    Response response;
    ErrorCode code;
  };
  const std::vector<Case> cases{
      {"a namespace that is there already", Method::kPost, "/api/v1/namespaces",
       Status(409, "AlreadyExists", "exists", R"({"name":"team-red","kind":"namespaces"})"), ErrorCode::kConflict},
      {"something else that is there already", Method::kPost, "/api/v1/namespaces",
       Status(409, "AlreadyExists", "exists", R"({"name":"red","kind":"projects"})"), ErrorCode::kInvalid},
      {"what is there already without a word on what", Method::kPost, "/api/v1/namespaces",
       Status(409, "AlreadyExists", "exists"), ErrorCode::kInvalid},
      {"a conflict of what is created", Method::kPost, space + "/resourcequotas",
       Status(409, "Conflict", "Operation cannot be fulfilled", of_quota), ErrorCode::kInvalid},
      {"a conflict of what is changed", Method::kPatch, quota,
       Status(409, "Conflict", "Operation cannot be fulfilled", of_quota), ErrorCode::kConflict},
      {"a conflict of the status", Method::kPatch, team_space + "/status",
       Status(409, "Conflict", "Operation cannot be fulfilled", R"({"name":"red","kind":"teamspaces"})"),
       ErrorCode::kConflict},
      {"a conflict of another object", Method::kPatch, quota,
       Status(409, "Conflict", "Operation cannot be fulfilled", R"({"name":"quota","kind":"resourcequotas"})"),
       ErrorCode::kInvalid},
      {"a proxy's 409", Method::kPatch, quota, Text(409, "conflict"), ErrorCode::kInvalid},
      {"a failed test", Method::kPatch, quota, Status(422, "Invalid", failed_test), ErrorCode::kConflict},
      {"a failed test of what is created", Method::kPost, space + "/resourcequotas",
       Status(422, "Invalid", failed_test), ErrorCode::kInvalid},
      {"a 422 without details in other words", Method::kPatch, quota, Status(422, "Invalid", "no"),
       ErrorCode::kInvalid},
      {"a refused value", Method::kPatch, quota, Status(422, "Invalid", failed_test, of_quota), ErrorCode::kInvalid},
      {"an entry that another pass has put into the same list", Method::kPatch, team_space + "/status",
       Status(422, "Invalid", "is invalid", R"({"name":"red","causes":[{"reason":"FieldValueDuplicate"}]})"),
       ErrorCode::kConflict},
      {"what is gone", Method::kPatch, quota, Status(404, "NotFound", "not found", of_quota), ErrorCode::kNotFound},
      {"what has no namespace any more", Method::kPost, space + "/resourcequotas",
       Status(404, "NotFound", "not found", R"({"name":"team-red","kind":"namespaces"})"), ErrorCode::kNotFound},
      {"what something else is gone for", Method::kPost, space + "/resourcequotas",
       Status(404, "NotFound", "not found", R"({"name":"team-re","kind":"namespaces"})"), ErrorCode::kInvalid},
      {"an API that is not there", Method::kPatch, team_space,
       Status(404, "NotFound", "the server could not find the requested resource"), ErrorCode::kInvalid},
      {"a gateway's 404", Method::kPatch, quota, Text(404, "404 page not found\n"), ErrorCode::kInvalid},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ErrorFor(c.method, c.path + "?fieldManager=cnpa-op", c.response).code == c.code);
    }
  }
}

TEST_CASE("ToError of what admission denies is a refusal in its words, whatever the code", "[kube][api_error]") {
  const std::string path = "/api/v1/namespaces/team-red/resourcequotas";
  const std::string webhook = R"(admission webhook \"guard.example.com\" denied the request)";
  const std::string long_name = std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + ".io";
  struct Case {
    std::string name;
    std::string reason;
    std::string message;
    std::string details = "{}";
  };
  const std::vector<Case> cases{
      {"a webhook", "Forbidden", webhook + ": no"},
      {"a webhook without a word", "", webhook + " without explanation"},
      {"a webhook that says AlreadyExists", "AlreadyExists", webhook + ": reserved",
       R"({"name":"team-quota","kind":"resourcequotas"})"},
      {"a webhook that says NotFound", "NotFound", webhook + ": not found",
       R"({"name":"team-red","kind":"namespaces"})"},
      {"a webhook that says what the server says of a failed test", "Invalid",
       webhook + ": the server rejected our request due to an error in our request"},
      {"a webhook that says that a right is missing", "Forbidden",
       webhook + R"(: User \"cnpa-op\" cannot create resource \"resourcequotas\" in API group \"\")"},
      {"a webhook that says that the namespace goes", "Forbidden", webhook + ": no",
       R"({"causes":[{"reason":"NamespaceTerminating"}]})"},
      {"a webhook that says that it is busy", "TooManyRequests", webhook + ": later", R"({"retryAfterSeconds":1})"},
      {"a webhook that says that it supports no dry run", "BadRequest", webhook + ": does not support dry run"},
      {"a webhook of the longest name", "Conflict",
       R"(admission webhook \")" + long_name + R"(\" denied the request: )" + std::string(400, 'x')},
      {"a validating policy", "Unauthorized",
       R"(resourcequotas \"team-quota\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no)",
       R"({"name":"team-quota","kind":"resourcequotas"})"},
      {"a mutating policy that fails", "Invalid", "policy 'p' with binding 'b' denied request: no such key"},
      {"a webhook that can't be asked", "InternalError",
       R"(Internal error occurred: failed calling webhook \"guard.example.com\": connection refused)"},
  };
  for (const Case& c : cases) {
    for (const int code : {400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 500, 503, 504}) {
      for (const Method method : {Method::kPost, Method::kPatch, Method::kDelete}) {
        CAPTURE(c.name, code, MethodName(method));
        const Response response = Status(code, c.reason, c.message, c.details);
        const Error error = ErrorFor(method, path, response);
        CHECK(error.code == ErrorCode::kInvalid);
        CHECK(error.message.starts_with(std::string(MethodName(method)) + " " + path + ": " + std::to_string(code)));
        CHECK(Contains(error.message, Contains(c.name, "webhook") ? "webhook" : "'p' with binding 'b'"));
        CHECK_FALSE(RefusesCredentials({.method = method, .path = path}, response));
      }
    }
  }
}

TEST_CASE("ToError does not take others' words for those of admission", "[kube][api_error]") {
  const std::string path = "/api/v1/namespaces";
  for (const std::string message : {"Unauthorized", "a webhook token is not known", "the request was denied"}) {
    CHECK(ErrorFor(Method::kPost, path, Status(401, "Unauthorized", message)).code == ErrorCode::kDenied);
    CHECK(RefusesCredentials({.method = Method::kPost, .path = path}, Status(401, "Unauthorized", message)));
  }
  const std::string page = R"(admission webhook "a" denied the request: no)";
  CHECK(ErrorFor(Method::kPost, path, Text(401, page)).code == ErrorCode::kDenied);
  CHECK(ErrorFor(Method::kPost, path, Text(503, page)).code == ErrorCode::kUnavailable);
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
                          .object_kind = "resourcequotas",
                          .object_name = "team-quota",
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
