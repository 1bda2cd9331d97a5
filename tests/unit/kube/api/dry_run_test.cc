// SPDX-License-Identifier: Apache-2.0
#include "kube/api/dry_run.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("AsDryRun marks every write, and a DELETE's body too, which alone the server reads", "[kube][dry_run]") {
  struct Case {
    std::string name;
    Request request;
    std::string path;
    std::string body;
  };
  const std::string mark = R"({"dryRun":["All"])";
  const std::vector<Case> cases{
      {"read", {.method = Method::kGet, .path = "/p?a=b"}, "/p?a=b", ""},
      {"create", {.method = Method::kPost, .path = "/p", .body = "{}"}, "/p?dryRun=All", "{}"},
      {"patch", {.method = Method::kPatch, .path = "/p?a=b", .body = "[]"}, "/p?a=b&dryRun=All", "[]"},
      {"delete without a body", {.method = Method::kDelete, .path = "/p"}, "/p?dryRun=All", ""},
      {"delete",
       {.method = Method::kDelete, .path = "/p", .body = R"({"kind":"DeleteOptions"})"},
       "/p?dryRun=All",
       mark + R"(,"kind":"DeleteOptions"})"},
      {"delete without options",
       {.method = Method::kDelete, .path = "/p", .body = "{ }"},
       "/p?dryRun=All",
       mark + " }"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const Result<Request> marked = AsDryRun(c.request);
      REQUIRE(marked);
      CHECK(marked->method == c.request.method);
      CHECK(marked->path == c.path);
      CHECK(marked->body == c.body);
    }
  }
}

TEST_CASE("AsDryRun gives nothing to send where a body can't be marked", "[kube][dry_run]") {
  for (const std::string body : {"[]", "{", " ", "x"}) {
    CAPTURE(body);
    CHECK(ErrorOf(AsDryRun({.method = Method::kDelete, .path = "/p", .body = body})) ==
          Error{ErrorCode::kInvalid, "DELETE /p: its body can't be made one of a dry run: not sent"});
  }
}

}  // namespace
}  // namespace cnpa
