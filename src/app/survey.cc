// SPDX-License-Identifier: Apache-2.0
#include "app/survey.h"

#include <utility>

#include "core/unauthorized.h"
#include "kube/api_error.h"
#include "kube/client.h"
#include "kube/codec.h"

namespace cnpa {
namespace {

template <typename T>
tl::unexpected<Error> ErrorFrom(const Result<T>& result) {
  return tl::unexpected<Error>(result.error());
}

/// An answer whole, where code and headers matter too: a Client hands out bodies.
struct Exchange {
  Result<Response> response = Fail(ErrorCode::kStopped, "not sent");
  PreciseTime sent;
  PreciseTime received;
};

Exchange Fetch(Transport& transport, std::string_view path, std::chrono::milliseconds timeout,
               const std::function<PreciseTime()>& now) {
  Exchange exchange{.sent = now()};
  transport.Start({.method = Method::kGet, .path = std::string(path), .timeout = timeout},
                  [&exchange, &now](Result<Response> response) {
                    exchange.received = now();
                    exchange.response = std::move(response);
                  });
  transport.RunUntilIdle();
  return exchange;
}

Error Refusal(std::string_view path, const Response& response) {
  return ToError(DecodeApiError({.method = Method::kGet, .path = std::string(path)}, response));
}

Result<std::string> ReadVersion(const Exchange& exchange) {
  if (!exchange.response) return ErrorFrom(exchange.response);
  if (exchange.response->code != 200) {
    Error error = Refusal(kVersionPath, *exchange.response);
    if (exchange.response->code == 403) error.code = ErrorCode::kDenied;
    return tl::unexpected<Error>(std::move(error));
  }
  Result<std::string> version = DecodeVersion(exchange.response->body);
  if (!version) return Annotate(std::move(version).error(), "no Kubernetes API server: its /version");
  return version;
}

/// Returns whether the server is ready, as far as it tells. Whoever keeps /readyz from us (403, 404) tells nothing.
bool ReadReady(const Exchange& exchange, Survey& survey) {
  if (!exchange.response) {
    survey.version = ErrorFrom(exchange.response);
    return false;
  }
  const int code = exchange.response->code;
  survey.ready_is_told = code == 200 || code == 429 || code >= 500;
  if (!survey.ready_is_told || code == 200) return true;
  survey.not_ready = DecodeFailedReadyChecks(exchange.response->body);
  if (survey.not_ready.empty()) survey.not_ready = {Refusal(kReadyPath, *exchange.response).message};
  return false;
}

/// Puts a question and decodes its answer.
template <typename T>
void Ask(Client& client, std::string_view path, const std::string& body, Result<T> (*decode)(std::string),
         Known<T>& answer) {
  client.Ask(std::string(path), body, [decode, &answer](Result<std::string> text) {
    answer = text ? decode(*std::move(text)) : Result<T>(ErrorFrom(text));
  });
}

Result<CrdReport> ReadDiscovery(Client& client) {
  Result<CrdReport> report = Fail(ErrorCode::kStopped, "not sent");
  client.Get(std::string(kDiscoveryPath), [&report](Result<std::string> text) {
    report = text ? DecodeDiscoveryReport(*std::move(text)) : Result<CrdReport>(ErrorFrom(text));
  });
  client.RunUntilIdle();
  return report;
}

void ReadCrdAndRights(Client& client, Survey& survey) {
  client.Get(std::string(kCrdPath), [&survey](Result<std::string> text) {
    survey.crd = text ? DecodeCrdReport(*std::move(text)) : Result<CrdReport>(ErrorFrom(text));
  });
  for (std::size_t i = 0; i < kLeastRights.size(); ++i) {
    if (!survey.with_events && kLeastRights[i].resource == kEventsResource) continue;
    Ask(client, kAccessReviewPath, EncodeAccessReview(kLeastRights[i]), &DecodeAccessReview, survey.rights[i]);
  }
  client.RunUntilIdle();
  if (!*survey.crd && survey.crd->error().code == ErrorCode::kDenied) survey.crd = ReadDiscovery(client);
}

}  // namespace

void SurveyServer(Transport& transport, std::chrono::milliseconds request_timeout,
                  const std::function<PreciseTime()>& now, Survey& survey) {
  survey.rights.resize(kLeastRights.size());
  const Exchange first = Fetch(transport, kVersionPath, request_timeout, now);
  survey.version = ReadVersion(first);
  if (first.response) survey.clock = {first.sent, first.received, first.response->date};
  if (!*survey.version && survey.version->error().code != ErrorCode::kDenied) return;
  Client client(transport, request_timeout);
  Ask(client, kSelfReviewPath, EncodeSelfReview(), &DecodeSelfReview, survey.user);
  client.RunUntilIdle();
  if (!*survey.user && IsUnauthorized(survey.user->error())) return;
  if (ReadReady(Fetch(transport, kReadyPath, request_timeout, now), survey)) ReadCrdAndRights(client, survey);
}

}  // namespace cnpa
