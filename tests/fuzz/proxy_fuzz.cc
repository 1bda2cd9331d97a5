// SPDX-License-Identifier: Apache-2.0
//
// $HTTPS_PROXY, $NO_PROXY and proxy-url, and the times that a server asks to wait.
#include <string>

#include "fuzz.h"
#include "kube/api/retry.h"
#include "kube/auth/proxy.h"

namespace cnpa {
namespace {

void FuzzRetryAfter(std::string_view text) {
  Response answer;
  answer.retry_after = text;
  answer.date = "Fri, 31 Dec 1999 23:59:59 GMT";
  const std::optional<std::chrono::milliseconds> span = ParseRetryAfter(answer);
  if (span) Require(span->count() >= 0, "nobody asks to come back in the past");
  Retries retries([] { return 1.0; });
  const std::chrono::milliseconds left = std::chrono::minutes(1);
  const std::optional<std::chrono::milliseconds> delay = retries.NoteFailureAndDelay(0, answer, left);
  if (delay) Require(delay->count() >= 0 && *delay <= left, "a delay fits into what is left");
}

}  // namespace

void Fuzz(std::string_view text) {
  const Result<std::string> proxy = ParseProxyUrl(std::string(text));
  RequireValueOr(ErrorCode::kInvalid, proxy);
  if (proxy) {
    Require(ParseProxyUrl(*proxy) == proxy, "what was taken is taken again, as it is");
    Require(WithoutPassword(*proxy).find('@') == std::string::npos, "nobody is named");
  }
  for (const char* host : {"api.example.com", "10.0.0.1", "fd00::1", "a"}) {
    if (IsExemptFromProxy(std::string(text), host, "6443")) {
      Require(IsExemptFromProxy("x.invalid," + std::string(text), host, "6443"), "another entry takes nothing back");
    }
    Require(!text.empty() || !IsExemptFromProxy("", host, "6443"), "an empty list exempts nobody");
  }
  Require(IsExemptFromProxy(std::string(text), "127.0.0.1", "1"), "loopback needs no proxy");
  FuzzRetryAfter(text);
}

}  // namespace cnpa
