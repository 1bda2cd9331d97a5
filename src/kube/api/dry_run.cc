// SPDX-License-Identifier: Apache-2.0
#include "kube/api/dry_run.h"

#include <utility>

namespace cnpa {
namespace {

constexpr std::string_view kQuery = "dryRun=All";
constexpr std::string_view kMember = R"("dryRun":["All"])";

/// Puts the mark in front of the other members of a DeleteOptions.
Status MarkBody(Request& request) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string& body = request.body;
  const std::size_t open = body.find_first_not_of(kBlanks);
  const std::size_t next = open == std::string::npos ? open : body.find_first_not_of(kBlanks, open + 1);
  if (next == std::string::npos || body[open] != '{') {
    return Fail(ErrorCode::kInvalid, "DELETE " + request.path + ": its body can't be made one of a dry run: not sent");
  }
  body.insert(open + 1, std::string(kMember) + (body[next] == '}' ? "" : ","));
  return {};
}

}  // namespace

Result<Request> AsDryRun(Request request) {
  if (request.method == Method::kGet) return request;
  if (request.method == Method::kDelete && !request.body.empty()) {
    if (Status marked = MarkBody(request); !marked) return tl::unexpected<Error>(std::move(marked).error());
  }
  request.path += request.path.find('?') == std::string::npos ? '?' : '&';
  request.path += kQuery;
  return request;
}

}  // namespace cnpa
