// SPDX-License-Identifier: Apache-2.0
#include "app/check/survey.h"

#include <utility>

#include "app/stages/crd_state.h"
#include "app/stages/observe.h"
#include "base/text.h"
#include "core/permissions/unauthorized.h"
#include "kube/api/client.h"
#include "kube/http/api_error.h"

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
    // Of another path than ours: that of the kubeconfig's server stands before it, and leads to no API.
    const bool elsewhere = IsNoPathOfApi(error) && !Contains(error.message, "\"/version\"");
    if (exchange.response->code == 403) error.code = elsewhere ? ErrorCode::kNotFound : ErrorCode::kDenied;
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

void ReadCrdAndRights(Client& client, Survey& survey) {
  for (std::size_t i = 0; i < kLeastRights.size(); ++i) {
    if (!survey.with_events && kLeastRights[i].resource == kEventsResource) continue;
    Ask(client, kAccessReviewPath, EncodeAccessReview(kLeastRights[i]), &DecodeAccessReview, survey.rights[i]);
  }
  survey.crd = ReadCrdReport(client);
}

/// Returns whether nothing is known already that keeps the lists of a pass from being read.
bool MayList(const Survey& survey) {
  for (std::size_t i = 0; i < kLeastRights.size(); ++i) {
    const Known<bool>& allowed = survey.rights[i];
    if (kLeastRights[i].verb == "list" && *allowed && !**allowed) return false;
  }
  const Result<CrdReport>& crd = *survey.crd;
  if (!crd) return crd.error().code != ErrorCode::kNotFound;
  return crd->established && crd->served && crd->cluster_scoped;
}

/// Reads all that a pass reads, as a pass does: what can't be converted, decoded or fetched shows only then.
Result<ListSizes> TryLists(Client& client, PreciseTime now) {
  const Result<Observation> observed = Observe(client, std::chrono::floor<std::chrono::seconds>(now));
  if (!observed) return ErrorFrom(observed);
  return ListSizes{observed->team_spaces.size(), observed->namespaces.size(), observed->quotas.size()};
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
  if (!ReadReady(Fetch(transport, kReadyPath, request_timeout, now), survey)) return;
  ReadCrdAndRights(client, survey);
  if (MayList(survey)) survey.lists = TryLists(client, now());
}

}  // namespace cnpa
