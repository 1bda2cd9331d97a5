// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <charconv>
#include <utility>

#include "kube/list_splitter.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;

constexpr int kReadAttempts = 4;
constexpr int kWriteAttempts = 3;
constexpr milliseconds kFirstDelay{250};
constexpr milliseconds kLongestRetryAfter{5000};

/// The server's own limit for a request, in whole seconds and a little shorter than ours, so that a write
/// that we give up is given up there too.
std::string ServerTimeout(milliseconds ours) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ours - milliseconds(500)).count();
  return "timeout=" + std::to_string(seconds < 1 ? 1 : seconds) + "s";
}

std::string WithParameter(const std::string& path, const std::string& parameter) {
  return path + (path.find('?') == std::string::npos ? "?" : "&") + parameter;
}

/// Percent-encodes all but the unreserved characters.
///
/// Source:   RFC 3986, section 2.
std::string EscapeQuery(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
        c == '.') {
      escaped += c;
    } else {
      escaped += '%';
      escaped += kHex[byte >> 4U];
      escaped += kHex[byte & 0xFU];
    }
  }
  return escaped;
}

bool Succeeded(const Response& response) {
  return response.code >= 200 && response.code < 300;
}

}  // namespace

std::optional<milliseconds> RetryDelay(const std::string& retry_after, int attempt) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(), seconds);
  if (!retry_after.empty() && error == std::errc() && end == retry_after.data() + retry_after.size()) {
    if (seconds < 0 || seconds > kLongestRetryAfter.count() / 1000) return std::nullopt;
    return milliseconds(seconds * 1000);
  }
  return kFirstDelay * (1 << attempt);
}

/// One list on its way.
struct Client::Listing {
  const Collection* collection = nullptr;
  std::function<void()> on_restart;
  OnItem on_item;
  OnStatus on_done;
  std::string continue_token;
  int attempt = 0;
  milliseconds delay{0};
  std::optional<Error> last_error;  ///< Of the attempt before.
  std::unique_ptr<ListSplitter> splitter;

  void Fail(Error error) const {
    // What does not decode says nothing of where it stood; all other errors name the request or the server.
    if (error.code == ErrorCode::kMalformed) error.message.insert(0, "list " + std::string(collection->words) + ": ");
    on_done(tl::unexpected<Error>(std::move(error)));
  }
};

void Client::List(const Collection& collection, std::function<void()> on_restart, OnItem on_item, OnStatus on_done) {
  auto listing = std::make_shared<Listing>();
  listing->collection = &collection;
  listing->on_restart = std::move(on_restart);
  listing->on_item = std::move(on_item);
  listing->on_done = std::move(on_done);
  ListPage(listing);
}

void Client::ListPage(const std::shared_ptr<Listing>& listing) {
  listing->splitter = std::make_unique<ListSplitter>(listing->on_item);
  Request request{.method = Method::kGet, .path = std::string(listing->collection->path)};
  if (!listing->continue_token.empty()) {
    request.path = WithParameter(request.path, "continue=" + EscapeQuery(listing->continue_token));
  }
  request.delay = listing->delay;
  request.on_body = [listing](std::string_view bytes) { return listing->splitter->Feed(bytes); };
  transport_.Start(std::move(request),
                   [this, listing](Result<Response> response) { FinishPage(listing, std::move(response)); });
}

void Client::FinishPage(const std::shared_ptr<Listing>& listing, Result<Response> response) {
  if (!response) {
    if (response.error().code == ErrorCode::kUnavailable) return RetryOrFail(listing, response.error(), {});
    // The pass's end kept us from another attempt: what went wrong with the last one is the thing to tell.
    if (response.error().code == ErrorCode::kStopped && listing->last_error) return listing->Fail(*listing->last_error);
    return listing->Fail(response.error());
  }
  if (response->code != 200) {
    const Request request{.method = Method::kGet, .path = std::string(listing->collection->path)};
    Error error = ToError(DecodeApiError(request, *response));
    if (response->code == 403) return BlameRightsOrStart(listing, std::move(error));
    if (error.code == ErrorCode::kUnavailable) return RetryOrFail(listing, std::move(error), response->retry_after);
    return listing->Fail(std::move(error));
  }
  Result<std::string> envelope = listing->splitter->Finish();
  if (!envelope) return listing->Fail(envelope.error());
  Result<ListEnvelope> decoded = DecodeEnvelope(*std::move(envelope), *listing->collection, listing->splitter->items());
  if (!decoded) return listing->Fail(decoded.error());
  if (decoded->continue_token.empty()) return listing->on_done({});
  listing->continue_token = decoded->continue_token;
  ListPage(listing);
}

void Client::RetryOrFail(const std::shared_ptr<Listing>& listing, Error error, const std::string& retry_after) {
  const std::optional<milliseconds> delay = RetryDelay(retry_after, listing->attempt);
  if (++listing->attempt >= kReadAttempts || !delay || transport_.stopping()) return listing->Fail(std::move(error));
  listing->last_error = std::move(error);
  listing->delay = *delay;
  listing->continue_token.clear();
  listing->on_restart();
  ListPage(listing);
}

void Client::BlameRightsOrStart(const std::shared_ptr<Listing>& listing, Error error) {
  Get("/readyz", [this, listing, error = std::move(error)](const Result<std::string>& ready) {
    if (ready) return listing->Fail(error);
    RetryOrFail(listing, {ErrorCode::kUnavailable, "the API server is not ready yet"}, {});
  });
}

void Client::Get(std::string path, OnBody on_done) {
  ForBody({.method = Method::kGet, .path = std::move(path)}, std::move(on_done));
}

void Client::Ask(std::string path, std::string body, OnBody on_done) {
  ForBody(
      {.method = Method::kPost, .path = std::move(path), .content_type = "application/json", .body = std::move(body)},
      std::move(on_done));
}

void Client::ForBody(Request request, OnBody on_done) {
  request.timeout = request_timeout_;
  const Request asked{.method = request.method, .path = request.path};
  transport_.Start(std::move(request), [asked, on_done = std::move(on_done)](Result<Response> response) {
    if (!response) return on_done(tl::unexpected<Error>(response.error()));
    if (!Succeeded(*response)) return on_done(tl::unexpected<Error>(ToError(DecodeApiError(asked, *response))));
    on_done(std::move(response->body));
  });
}

void Client::Write(Request request, OnStatus on_done) {
  request.path = WithParameter(request.path, ServerTimeout(request_timeout_));
  request.timeout = request_timeout_;
  WriteAttempt(std::make_shared<Request>(std::move(request)), 0, std::move(on_done));
}

void Client::WriteAttempt(const std::shared_ptr<Request>& request, int attempt, OnStatus on_done) {
  transport_.Start(*request, [this, request, attempt, on_done = std::move(on_done)](Result<Response> response) {
    if (response || response.error().code != ErrorCode::kStopped) ++writes_;
    if (!response) return on_done(tl::unexpected<Error>(response.error()));
    if (Succeeded(*response)) return on_done({});
    const Error error = ToError(DecodeApiError(*request, *response));
    const std::optional<milliseconds> delay = RetryDelay(response->retry_after, attempt);
    if (response->code != 429 || !delay || attempt + 1 >= kWriteAttempts || transport_.stopping()) {
      return on_done(tl::unexpected<Error>(error));
    }
    request->delay = *delay;
    WriteAttempt(request, attempt + 1, on_done);
  });
}

}  // namespace cnpa
