// SPDX-License-Identifier: Apache-2.0
#include "kube/api/client.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/percent.h"
#include "kube/json/json.h"
#include "kube/json/line_splitter.h"
#include "kube/json/list_splitter.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;

constexpr int kReadAttempts = 4;
constexpr int kWriteAttempts = 3;
constexpr milliseconds kTellTimeout = std::chrono::seconds(3);
constexpr milliseconds kLongestOfServer = std::chrono::minutes(1);  // Its own limit.

/// The server's own limit for a request, in whole seconds and a little shorter than ours, so that what we give up is
/// given up there too.
std::string ServerTimeout(milliseconds ours) {
  const milliseconds limit = std::min(ours - milliseconds(500), kLongestOfServer);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit).count();
  return "timeout=" + std::to_string(seconds < 1 ? 1 : seconds) + "s";
}

std::string WithParameter(const std::string& path, const std::string& parameter) {
  return path + (path.find('?') == std::string::npos ? "?" : "&") + parameter;
}

std::string Words(const Request& request) {
  return std::string(MethodName(request.method)) + " " + request.path.substr(0, request.path.find('?'));
}

/// Returns whether `body` is what the API server answers to a write: the object, or a Status. A proxy's page is not.
bool IsKubernetesObject(std::string body) {
  if (!WithinDepth(body)) return false;
  JsonDocument document;
  if (!document.Parse(body)) return false;
  return document.root().Has("kind") && document.root().Has("apiVersion");
}

bool Succeeded(const Response& response) {
  return response.code >= 200 && response.code < 300;
}

/// Returns what is wrong with an answer to a write.
Error WriteError(const Request& request, const Result<Response>& response) {
  if (response && Succeeded(*response)) {
    return {ErrorCode::kUnavailable, Words(request) + ": the answer is not the API server's"};
  }
  if (response) return ToError(DecodeApiError(request, *response), Purpose::kWrite);
  Error error = response.error();
  // An answer that nobody can read, since it is compressed or too long: whatever it says, the write may have happened.
  if (error.code == ErrorCode::kMalformed) error = {ErrorCode::kUnavailable, Words(request) + ": " + error.message};
  return error;
}

/// A failure that another try, now or in the next pass, can fix.
bool MayPass(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kUnreachable;
}

/// Returns whether `request`, which is a GET, is a list to the server: one of many objects, which alone is read as it
/// comes, or one of the object that a selector names.
bool IsList(const Request& request) {
  return request.on_body || request.path.find("fieldSelector=") != std::string::npos;
}

/// Returns Kubernetes' word for what `request` does.
std::string_view VerbOf(const Request& request) {
  switch (request.method) {
    case Method::kGet: return IsList(request) ? "list" : "get";
    case Method::kPost: return "create";
    case Method::kPatch: return "patch";
    case Method::kDelete: return "delete";
  }
  return "";
}

/// What a 403 means where /readyz is refused as well: nobody can tell a server that starts from a missing permission.
Error NotReadyOrForbidden(const ApiError& refused) {
  const std::optional<MissingRight> right = ParseMissingRight(refused);
  if (!right) return ToError(refused);
  return {ErrorCode::kDenied, "the API server is not ready yet, or does not let user \"" + right->user + "\" " +
                                  right->verb + " " + right->resource + ": it refuses /readyz as well"};
}

}  // namespace

std::optional<std::string> WarningText(std::string_view value) {
  if (!value.starts_with("299 ")) return std::nullopt;
  const std::size_t open = value.find('"');
  if (open == std::string_view::npos) return std::nullopt;
  std::string text;
  for (std::size_t i = open + 1; i < value.size() && value[i] != '"'; ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    text += value[i];
  }
  return text.empty() ? std::nullopt : std::optional<std::string>(std::move(text));
}

void Client::Start(Request request, Transport::OnDone on_done) {
  const std::string_view verb = VerbOf(request);
  const bool counts = !request.is_watch;  // A watch is of no pass.
  // The one way to the transport, so that no request of a dry run can be forgotten.
  Result<Request> meant = mode_ == WriteMode::kDryRun ? AsDryRun(std::move(request)) : std::move(request);
  if (!meant) return on_done(tl::unexpected<Error>(std::move(meant).error()));
  transport_.Start(*std::move(meant), [this, verb, counts, on_done = std::move(on_done)](Result<Response> response) {
    if (counts && (response || response.error().code != ErrorCode::kStopped))
      ++requests_[{verb, response ? response->code : 0}];
    if (response) {
      for (const std::string& value : response->warnings) {
        const std::optional<std::string> text = WarningText(value);
        if (text && on_warning_ && warned_.insert(*text).second) on_warning_(*text);
      }
      if (Succeeded(*response)) retries_.NoteSuccess();
    }
    on_done(std::move(response));
  });
}

/// One list on its way.
struct Client::Listing {
  const Collection* collection = nullptr;
  std::function<void()> on_restart;
  OnItem on_item;
  OnListed on_done;
  std::string resource_version;  ///< Of the first page: further ones show the same moment.
  std::string continue_token;
  std::set<std::string> continue_tokens;  ///< All that came.
  ListAllowance allowance;
  int attempt = 0;
  milliseconds delay{0};
  std::optional<Error> last_error;  ///< Of the attempt before.
  std::unique_ptr<ListSplitter> splitter;

  Status Feed(std::string_view bytes) {
    const std::size_t items = splitter->items();
    if (Status fed = splitter->Feed(bytes); !fed) return fed;
    return allowance.Take(bytes.size(), splitter->items() - items);
  }

  /// Goes on to the next page; returns whether that is one that has not been there yet.
  bool ContinueWith(const std::string& token) {
    continue_token = token;
    return continue_tokens.insert(token).second;
  }

  /// Forgets the pages that have come.
  void Restart() {
    continue_token.clear();
    continue_tokens.clear();
    resource_version.clear();
    allowance = {};
    on_restart();
  }

  /// Returns what stands around the items of a page that has come whole.
  Result<ListEnvelope> Envelope() const {
    Result<std::string> envelope = splitter->Finish();
    if (!envelope) return tl::unexpected<Error>(std::move(envelope).error());
    return DecodeEnvelope(*std::move(envelope), *collection, splitter->items());
  }

  void Fail(Error error) const {
    // What does not decode, or was not sent, says nothing of where it stood; other errors name the request or the
    // server.
    const bool nameless = error.code == ErrorCode::kMalformed || error.code == ErrorCode::kStopped;
    if (nameless) error.message.insert(0, "list " + std::string(collection->resource.plural) + ": ");
    on_done(tl::unexpected<Error>(std::move(error)));
  }
};

void Client::List(const Collection& collection, std::function<void()> on_restart, OnItem on_item, OnListed on_done) {
  auto listing = std::make_shared<Listing>();
  listing->collection = &collection;
  listing->on_restart = std::move(on_restart);
  listing->on_item = std::move(on_item);
  listing->on_done = std::move(on_done);
  ListPage(listing);
}

void Client::ListPage(const std::shared_ptr<Listing>& listing) {
  listing->splitter = std::make_unique<ListSplitter>(listing->on_item);
  Request request{.method = Method::kGet, .path = listing->collection->path()};
  request.path = WithParameter(request.path, ServerTimeout(transport_.time_left()));
  if (!listing->continue_token.empty()) {
    request.path = WithParameter(request.path, "continue=" + PercentEncode(listing->continue_token, "-_."));
  }
  request.delay = listing->delay;
  request.on_body = [listing](std::string_view bytes) { return listing->Feed(bytes); };
  Start(std::move(request), [this, listing](Result<Response> response) { FinishPage(listing, std::move(response)); });
}

void Client::FinishPage(const std::shared_ptr<Listing>& listing, Result<Response> response) {
  if (!response) {
    // The pass's end kept us from another whole attempt: what went wrong with the last one is the thing to tell.
    const bool ends = transport_.stopping() || response.error().code == ErrorCode::kStopped;
    if (ends && listing->last_error) return listing->Fail(*listing->last_error);
    if (MayPass(response.error().code)) return RetryOrFail(listing, response.error(), {});
    return listing->Fail(response.error());
  }
  if (response->code != 200) {
    const Request request{.method = Method::kGet, .path = listing->collection->path()};
    const ApiError refused = DecodeApiError(request, *response);
    if (response->code == 403) return BlameRightsOrStart(listing, refused);
    Error error = ToError(refused);
    if (MayPass(error.code)) return RetryOrFail(listing, std::move(error), *response);
    return listing->Fail(std::move(error));
  }
  Result<ListEnvelope> decoded = listing->Envelope();
  if (!decoded) {
    decoded.error().message += NotJsonWords(response->content_type);
    return listing->Fail(std::move(decoded).error());
  }
  if (listing->resource_version.empty()) listing->resource_version = decoded->resource_version;
  if (decoded->continue_token.empty()) return listing->on_done(std::move(listing->resource_version));
  if (!listing->ContinueWith(decoded->continue_token)) {
    return listing->Fail({ErrorCode::kMalformed, "its pages go round in circles: a continue token came twice"});
  }
  ListPage(listing);
}

void Client::RetryOrFail(const std::shared_ptr<Listing>& listing, Error error, const Response& answer) {
  const std::optional<milliseconds> delay =
      retries_.NoteFailureAndDelay(listing->attempt, answer, transport_.time_left());
  if (++listing->attempt >= kReadAttempts || !delay || stopping()) return listing->Fail(std::move(error));
  listing->last_error = std::move(error);
  listing->delay = *delay;
  listing->Restart();
  ListPage(listing);
}

void Client::BlameRightsOrStart(const std::shared_ptr<Listing>& listing, const ApiError& refused) {
  GetOnce("/readyz", [this, listing, refused](const Result<std::string>& ready) {
    if (ready) return listing->Fail(ToError(refused));
    if (ready.error().code == ErrorCode::kStopped) return listing->Fail(ready.error());
    // /readyz may be kept from us: by a gateway, for good, or for a while by a server that starts.
    if (!MayPass(ready.error().code)) return RetryOrFail(listing, NotReadyOrForbidden(refused), {});
    RetryOrFail(listing, {ErrorCode::kUnavailable, "the API server is not ready yet"}, {});
  });
}

void Client::Watch(const Collection& collection, const std::string& resource_version, OnItem on_line,
                   OnStatus on_done) {
  // Ours is the first to end.
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(transport_.time_left()) + std::chrono::seconds(5);
  Request request{.method = Method::kGet, .path = collection.path()};
  for (const std::string& parameter :
       {std::string("watch=1"), "resourceVersion=" + PercentEncode(resource_version, "-_."),
        std::string("allowWatchBookmarks=true"), "timeoutSeconds=" + std::to_string(seconds.count())}) {
    request.path = WithParameter(request.path, parameter);
  }
  request.is_watch = true;
  request.on_body = [lines = LineSplitter(std::move(on_line))](std::string_view bytes) mutable {
    return lines.Feed(bytes);
  };
  const Request asked{.method = request.method, .path = request.path};
  Start(std::move(request), [asked, on_done = std::move(on_done)](const Result<Response>& response) {
    if (!response) return on_done(tl::unexpected<Error>(response.error()));
    if (response->code != 200) return on_done(tl::unexpected<Error>(ToError(DecodeApiError(asked, *response))));
    on_done({});
  });
}

void Client::Get(std::string path, OnBody on_done) {
  ForBody({.method = Method::kGet, .path = std::move(path)}, Purpose::kRead, request_timeout_, kReadAttempts,
          std::move(on_done));
}

void Client::GetOnce(std::string path, OnBody on_done) {
  ForBody({.method = Method::kGet, .path = std::move(path)}, Purpose::kRead, request_timeout_, 1, std::move(on_done));
}

void Client::Ask(std::string path, std::string body, OnBody on_done) {
  ForBody(
      {.method = Method::kPost, .path = std::move(path), .content_type = "application/json", .body = std::move(body)},
      Purpose::kRead, request_timeout_, kReadAttempts, std::move(on_done));
}

void Client::Tell(Request request, OnBody on_done) {
  const Purpose purpose = request.method == Method::kGet ? Purpose::kRead : Purpose::kWrite;
  ForBody(std::move(request), purpose, std::min(request_timeout_, kTellTimeout), 1, std::move(on_done));
}

/// One request for a body on its way.
struct Client::Question {
  Request request;
  Purpose purpose = Purpose::kRead;
  int attempts_left = 0;
  int attempt = 0;
  std::optional<Error> last_error;  ///< Of the attempt before.
  OnBody on_done;
};

void Client::ForBody(Request request, Purpose purpose, milliseconds timeout, int attempts, OnBody on_done) {
  request.path = WithParameter(request.path, ServerTimeout(timeout));
  request.timeout = timeout;
  AskAttempt(std::make_shared<Question>(Question{
      .request = std::move(request), .purpose = purpose, .attempts_left = attempts, .on_done = std::move(on_done)}));
}

void Client::AskAttempt(const std::shared_ptr<Question>& question) {
  --question->attempts_left;
  Start(question->request, [this, question](Result<Response> response) { FinishAsk(question, std::move(response)); });
}

void Client::FinishAsk(const std::shared_ptr<Question>& question, Result<Response> response) {
  if (response && Succeeded(*response)) return question->on_done(std::move(response->body));
  Error error = response ? ToError(DecodeApiError(question->request, *response), question->purpose) : response.error();
  const bool may_try_again = MayPass(error.code) && question->attempts_left > 0;
  // The pass's end kept us from another attempt: what went wrong with the last one is the thing to report.
  if (error.code == ErrorCode::kStopped && question->last_error) error = *question->last_error;
  const std::optional<milliseconds> delay =
      may_try_again ? retries_.NoteFailureAndDelay(question->attempt++, response.value_or(Response{}), time_left())
                    : std::nullopt;
  if (!delay || stopping()) return question->on_done(tl::unexpected<Error>(std::move(error)));
  question->last_error = std::move(error);
  question->request.delay = *delay;
  AskAttempt(question);
}

void Client::Write(Request request, OnBody on_done) {
  request.path = WithParameter(request.path, ServerTimeout(request_timeout_));
  request.timeout = request_timeout_;
  WriteAttempt(std::make_shared<Request>(std::move(request)), 0, std::move(on_done));
}

void Client::WriteAttempt(const std::shared_ptr<Request>& request, int attempt, OnBody on_done) {
  Start(*request, [this, request, attempt, on_done = std::move(on_done)](Result<Response> response) {
    FinishWrite(request, attempt, on_done, std::move(response));
  });
}

void Client::FinishWrite(const std::shared_ptr<Request>& request, int attempt, const OnBody& on_done,
                         Result<Response> response) {
  const bool succeeded = response && Succeeded(*response);
  if (succeeded && IsKubernetesObject(response->body)) {
    ++writes_;
    return on_done(std::move(response->body));
  }
  Error error = WriteError(*request, response);
  if (!MayPass(error.code)) return on_done(tl::unexpected<Error>(std::move(error)));
  const bool surely_undone = error.code == ErrorCode::kUnreachable || (response && response->code == 429);
  if (!surely_undone) {
    ++writes_;
    // A 500 may be about this object alone, and must keep nothing from the others.
    if (!response || response->code != 500) retries_.NoteFailure();
    if (mode_ == WriteMode::kReal) error.message += ": it may still have been applied; the next pass will tell";
    return on_done(tl::unexpected<Error>(std::move(error)));
  }
  const std::optional<milliseconds> delay =
      retries_.NoteFailureAndDelay(attempt, response.value_or(Response{}), transport_.time_left());
  if (!delay || attempt + 1 >= kWriteAttempts || stopping()) return on_done(tl::unexpected<Error>(std::move(error)));
  request->delay = *delay;
  WriteAttempt(request, attempt + 1, on_done);
}

}  // namespace cnpa
