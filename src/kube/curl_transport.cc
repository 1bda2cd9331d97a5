// SPDX-License-Identifier: Apache-2.0
#include "kube/curl_transport.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <utility>

#include <curl/curl.h>

#include "base/base64.h"
#include "base/percent.h"
#include "base/time.h"
#include "base/version.h"
#include "kube/proxy.h"

namespace cnpa {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Status documents are small; what a write returns is one object.
constexpr std::size_t kLargestBodyBytes = std::size_t{8} << 20U;
constexpr milliseconds kNever = std::chrono::hours(24);
constexpr milliseconds kBetweenRenewals = std::chrono::seconds(30);

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct SlistDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using Multi = std::unique_ptr<CURLM, MultiDeleter>;
using Slist = std::unique_ptr<curl_slist, SlistDeleter>;

void Append(Slist& list, const std::string& text) {
  curl_slist* longer = curl_slist_append(list.get(), text.c_str());
  if (longer == nullptr) return;  // Out of memory; see the style page: not handled.
  static_cast<void>(list.release());
  list.reset(longer);
}

curl_blob Blob(const std::string& bytes) {
  // libcurl takes a pointer to mutable bytes and, told not to copy, only reads them.
  return {const_cast<char*>(bytes.data()), bytes.size(),
          CURL_BLOB_NOCOPY};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

/// "https://host:port/prefix" in its parts; `port` is never empty.
struct Address {
  std::string host;
  std::string port;
  std::string prefix;
};

struct CurlStringDeleter {
  void operator()(char* text) const { curl_free(text); }
};

Result<Address> ParseAddress(const std::string& server) {
  struct UrlDeleter {
    void operator()(CURLU* url) const { curl_url_cleanup(url); }
  };
  const std::unique_ptr<CURLU, UrlDeleter> url(curl_url());
  const auto part = [&url](CURLUPart what) {
    char* text = nullptr;
    curl_url_get(url.get(), what, &text, CURLU_DEFAULT_PORT);
    const std::unique_ptr<char, CurlStringDeleter> owned(text);
    return std::string(text != nullptr ? text : "");
  };
  if (curl_url_set(url.get(), CURLUPART_URL, server.c_str(), 0) != CURLUE_OK) {
    return Fail(ErrorCode::kInvalid, "'" + server + "' is not an address such as https://10.0.0.1:6443");
  }
  if (part(CURLUPART_SCHEME) != "https") {
    // Credentials are sent over TLS only.
    return Fail(ErrorCode::kInvalid, "'" + server + "' does not begin with https://");
  }
  Address address{part(CURLUPART_HOST), part(CURLUPART_PORT), part(CURLUPART_PATH)};
  while (address.prefix.ends_with('/')) address.prefix.pop_back();
  return address;
}

/// Go's socks5 has the proxy look names up; libcurl calls that socks5h.
std::string CurlProxy(const std::string& proxy) {
  constexpr std::string_view kSocks = "socks5://";
  return proxy.starts_with(kSocks) ? "socks5h://" + proxy.substr(kSocks.size()) : proxy;
}

/// Percent-encodes what can't be in the name of a header.
///
/// Source:   k8s.io/client-go/transport, headerKeyEscape; RFC 9110, token.
std::string EscapeHeaderName(const std::string& name) {
  return PercentEncode(name, "!#$&'*+-.^_`|~");
}

/// Returns a header as libcurl wants it: one without a value has a form of its own, else it would be left out.
std::string Header(const std::string& name, const std::string& value) {
  return value.empty() ? name + ";" : name + ": " + value;
}

/// libcurl's words without their capital, and without what only its developers need.
std::string CurlMessage(CURLcode code, const char* detail) {
  std::string message = detail[0] != '\0' ? detail : curl_easy_strerror(code);
  if (message.size() > 1 && message[0] >= 'A' && message[0] <= 'Z' && (message[1] < 'A' || message[1] > 'Z')) {
    message[0] = static_cast<char>(message[0] - 'A' + 'a');
  }
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  return message;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string VerificationWords(const std::string& detail) {
  if (Contains(detail, "expired")) return "the server's certificate has expired: renew it on the server";
  if (Contains(detail, "not yet valid")) return "the server's certificate is not valid yet: compare the clocks";
  if (Contains(detail, "subject name")) {
    return "the server's certificate is for another name (" + detail + "): check 'server' or set 'tls-server-name'";
  }
  return "the server's certificate is not trusted (" + detail + "): check 'certificate-authority'";
}

/// OpenSSL's words behind the codes that only its developers need.
std::string TlsWords(const std::string& detail) {
  if (Contains(detail, "wrong version number") || Contains(detail, "http request")) {
    return "the server does not speak TLS on that port";
  }
  const std::size_t words = detail.rfind("::");
  return "no TLS with the server: " + (words == std::string::npos ? detail : detail.substr(words + 2));
}

/// How far a transfer came before it failed.
struct Progress {
  bool connected = false;
  bool sent = false;      ///< The request has begun.
  std::size_t bytes = 0;  ///< Of the answer's body.
  bool answered = false;  ///< The answer has begun.
  milliseconds took{0};
};

std::string TimeoutWords(const Progress& progress) {
  const std::string span = " within " + FormatDuration(progress.took);
  if (!progress.connected) return "no connection" + span;
  if (!progress.answered) return "no answer" + span;
  return "no whole answer" + span + ", " + std::to_string(progress.bytes) + " bytes of it came";
}

/// What went wrong, and whether trying again can mend it.
Error DescribeFailure(CURLcode code, const char* detail, long os_errno, const Progress& progress) {
  const std::string words = CurlMessage(code, detail);
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      // libcurl does not always tell which it was.
      if (os_errno == 0) return {ErrorCode::kUnavailable, "connection refused, or no way there"};
      return {ErrorCode::kUnavailable, os_errno == ECONNREFUSED ? "connection refused" : words};
    case CURLE_OPERATION_TIMEDOUT: return {ErrorCode::kUnavailable, TimeoutWords(progress)};
    case CURLE_PEER_FAILED_VERIFICATION: return {ErrorCode::kInvalid, VerificationWords(words)};
    case CURLE_SSL_CONNECT_ERROR: return {ErrorCode::kUnavailable, TlsWords(words)};
    case CURLE_UNSUPPORTED_PROTOCOL: return {ErrorCode::kUnavailable, "the answer is not HTTP"};
    case CURLE_SSL_CACERT_BADFILE:
      return {ErrorCode::kInvalid, "'certificate-authority' holds no certificate (" + words + ")"};
    case CURLE_SSL_CERTPROBLEM:
      return {ErrorCode::kInvalid, "the client certificate or its key can't be used (" + words + ")"};
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_FAIL_REWIND: return {ErrorCode::kUnavailable, "the server closed the connection without an answer"};
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
      if (Contains(words, "CONNECT"))
        return {ErrorCode::kUnavailable, "the proxy does not let us through (" + words + ")"};
      if (!progress.answered)
        return {ErrorCode::kUnavailable, "the connection was lost before an answer (" + words + ")"};
      return {ErrorCode::kUnavailable, "the answer ends in the middle (" + words + ")"};
    default: return {ErrorCode::kUnavailable, words};
  }
}

}  // namespace

class CurlTransport::Impl {
 public:
  Impl(Connection connection, TransportLimits limits, OnTrace on_trace, Renew renew, Address address)
      : limits_(std::move(limits)),
        on_trace_(std::move(on_trace)),
        renew_(std::move(renew)),
        address_(std::move(address)),
        multi_(curl_multi_init()) {
    SetConnections(limits_.connections);
    TakeOn(std::move(connection));
    const std::string& name = this->connection().tls_server_name;
    if (!name.empty()) Append(connect_to_, name + ":" + address_.port + ":" + address_.host + ":" + address_.port);
    const std::string& host = name.empty() ? address_.host : name;
    base_url_ = "https://" + host + ":" + address_.port + address_.prefix;
  }

  ~Impl() {
    for (const auto& transfer : transfers_) curl_multi_remove_handle(multi_.get(), transfer->easy.get());
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  Impl(Impl&&) = delete;
  Impl& operator=(Impl&&) = delete;

  void Start(Request request, OnDone on_done) {
    const auto begin = Clock::now() + request.delay;
    waiting_.emplace(begin, Waiting{std::move(request), std::move(on_done)});
  }

  void RunUntilIdle() {
    abandon_at_.reset();
    while (!waiting_.empty() || !transfers_.empty()) {
      BeginDue();
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      if (abandon_at_ && Clock::now() >= *abandon_at_) EndAll();
      if (FinishDone() || transfers_.empty()) {
        if (transfers_.empty() && !waiting_.empty()) WaitForDue();
        continue;
      }
      Poll();
      EndStalled();
      if (stopping()) AbandonLate();
    }
  }

  void Abandon(milliseconds after) { abandon_at_ = Clock::now() + after; }

  void set_time_left(milliseconds left) { limits_.deadline = Clock::now() + left; }

  bool stopping() const { return stop_requested() || Clock::now() >= limits_.deadline; }

  milliseconds time_left() const {
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(limits_.deadline - Clock::now()));
  }

 private:
  struct Waiting {
    Request request;
    OnDone on_done;
  };

  /// What requests are sent with. Those in flight point into theirs, so it lives on when there is a newer one.
  struct Identity {
    Connection connection;
    Slist headers;
  };

  struct Transfer {
    Request request;
    OnDone on_done;
    Response response;
    Status body_status;  ///< What `on_body` or a limit said.
    bool compressed = false;
    std::size_t body_sent = 0;  ///< Bytes of the request's body that libcurl has taken.
    const Identity* identity = nullptr;
    Easy easy;
    Slist headers;
    Clock::time_point started;
    Clock::time_point moved;  ///< When a byte last came.
    std::size_t bytes = 0;
    std::array<char, CURL_ERROR_SIZE> error{};
  };

  const Connection& connection() const { return identities_.back().connection; }

  /// Has all requests from now on sent with `connection`.
  void TakeOn(Connection connection) {
    identities_.push_back({std::move(connection), nullptr});
    Slist& headers = identities_.back().headers;
    const Connection& own = identities_.back().connection;
    Append(headers, "Accept: application/json");
    Append(headers, "Expect:");  // Never wait for "100 Continue": bodies are small.
    if (!own.token.empty()) {
      Append(headers, "Authorization: Bearer " + own.token);
    } else if (!own.username.empty() || !own.password.empty()) {
      Append(headers, "Authorization: Basic " + EncodeBase64(own.username + ":" + own.password));
    }
    const Impersonation& impersonate = own.impersonate;
    if (!impersonate.user.empty()) Append(headers, Header("Impersonate-User", impersonate.user));
    if (!impersonate.uid.empty()) Append(headers, Header("Impersonate-Uid", impersonate.uid));
    for (const std::string& group : impersonate.groups) Append(headers, Header("Impersonate-Group", group));
    for (const auto& [key, value] : impersonate.extra) {
      Append(headers, Header("Impersonate-Extra-" + EscapeHeaderName(key), value));
    }
  }

  bool stop_requested() const { return limits_.stop_requested && limits_.stop_requested(); }

  void BeginDue() {
    while (!waiting_.empty() && (waiting_.begin()->first <= Clock::now() || stopping())) {
      Waiting next = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      if (stopping()) {
        const char* why = stop_requested() ? "not sent: told to end" : "not sent: --timeout is over";
        next.on_done(Fail(ErrorCode::kStopped, why));
      } else {
        Begin(std::move(next));
      }
    }
  }

  void Begin(Waiting next) {
    auto transfer = std::make_unique<Transfer>();
    transfer->request = std::move(next.request);
    transfer->on_done = std::move(next.on_done);
    transfer->started = Clock::now();
    transfer->moved = transfer->started;
    transfer->identity = &identities_.back();
    if (idle_.empty()) {
      transfer->easy.reset(curl_easy_init());
      SetCommon(transfer->easy.get());
    } else {
      transfer->easy = std::move(idle_.back());
      idle_.pop_back();
    }
    // A watch keeps its connection, and must keep none from the others.
    if (transfer->request.is_watch) SetConnections(limits_.connections + ++watches_);
    SetRequest(*transfer);
    curl_multi_add_handle(multi_.get(), transfer->easy.get());
    transfers_.push_back(std::move(transfer));
  }

  void SetConnections(int most) const {
    curl_multi_setopt(multi_.get(), CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(most));
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(most));
  }

  /// Sets what all requests share; an easy handle is used again and again.
  void SetCommon(CURL* easy) {
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);  // A redirect would carry the credentials elsewhere.
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // Never wait for a name server that does not answer.
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_USERAGENT, (std::string("cnpa-op/") + kVersion).c_str());
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits_.connect_timeout.count()));
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 128L << 10U);
    // The other end of a watch may go without a word.
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Impl::OnBytes);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Impl::OnHeader);
    SetProxy(easy);
    if (connect_to_) curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_.get());
    if (connection().insecure_skip_tls_verify) {
      curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
      curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    const auto set_blob = [easy](CURLoption option, const std::string& bytes) {
      if (bytes.empty()) return;
      curl_blob blob = Blob(bytes);
      curl_easy_setopt(easy, option, &blob);
    };
    set_blob(CURLOPT_CAINFO_BLOB, connection().ca_pem);
    set_blob(CURLOPT_SSLCERT_BLOB, connection().certificate_pem);
    set_blob(CURLOPT_SSLKEY_BLOB, connection().key_pem);
  }

  /// Which proxy was decided by Go's rules; libcurl is to look at no variable of its own.
  void SetProxy(CURL* easy) {
    // libcurl quotes the URL in its messages, and takes no password with an '@' in it.
    curl_easy_setopt(easy, CURLOPT_PROXY, CurlProxy(WithoutPassword(connection().proxy)).c_str());
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    if (connection().proxy.empty()) return;
    if (const ProxyUser user = UserOf(connection().proxy); !user.name.empty() || !user.password.empty()) {
      curl_easy_setopt(easy, CURLOPT_PROXYUSERNAME, user.name.c_str());
      curl_easy_setopt(easy, CURLOPT_PROXYPASSWORD, user.password.c_str());
    }
    curl_easy_setopt(easy, CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));  // No token for the proxy.
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    // Go trusts a proxy by what it trusts the server by.
    if (connection().insecure_skip_tls_verify) {
      curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 0L);
      curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 0L);
    }
    if (!connection().ca_pem.empty()) {
      curl_blob blob = Blob(connection().ca_pem);
      curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO_BLOB, &blob);
    }
  }

  void SetRequest(Transfer& transfer) {
    CURL* easy = transfer.easy.get();
    const Request& request = transfer.request;
    const std::string method(MethodName(request.method));
    curl_easy_setopt(easy, CURLOPT_URL, (base_url_ + request.path).c_str());
    const bool has_body = !request.body.empty();
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    if (has_body) {
      // A callback that can't rewind, and not the bytes themselves: libcurl would send those a second time where a kept
      // connection ends without an answer, and the first may have been heard.
      curl_easy_setopt(easy, CURLOPT_POST, 1L);
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS, nullptr);
      curl_easy_setopt(easy, CURLOPT_READFUNCTION, &Impl::OnSend);
      curl_easy_setopt(easy, CURLOPT_READDATA, &transfer);
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method.c_str());
    curl_slist* shared = identities_.back().headers.get();
    if (has_body) {
      for (const curl_slist* header = shared; header != nullptr; header = header->next) {
        Append(transfer.headers, header->data);
      }
      Append(transfer.headers, "Content-Type: " + request.content_type);
      shared = transfer.headers.get();
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, shared);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(TimeLeft(request).count()));
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.error.data());
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
  }

  /// Returns how long a request may take, at least a millisecond: 0 would mean for ever.
  milliseconds TimeLeft(const Request& request) const {
    const auto left = std::chrono::duration_cast<milliseconds>(limits_.deadline - Clock::now());
    const milliseconds own = request.timeout.count() > 0 ? request.timeout : kNever;
    return std::clamp(std::min(left, own), milliseconds(1), kNever);
  }

  static std::size_t OnSend(char* buffer, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    const std::size_t bytes = transfer.request.body.copy(buffer, size * count, transfer.body_sent);
    transfer.body_sent += bytes;
    return bytes;
  }

  static std::size_t OnBytes(char* data, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    const std::string_view bytes(data, size * count);
    transfer.bytes += bytes.size();
    transfer.moved = Clock::now();
    if (transfer.compressed) {
      // We did not ask for it, and a few bytes of it can become many.
      transfer.body_status = Fail(ErrorCode::kMalformed, "the answer is compressed, which was not asked for");
    } else if (transfer.request.on_body && transfer.response.code == 200) {
      transfer.body_status = transfer.request.on_body(bytes);
    } else if (transfer.response.body.size() + bytes.size() > kLargestBodyBytes) {
      transfer.body_status = Fail(ErrorCode::kMalformed, "the answer is too large");
    } else {
      transfer.response.body.append(bytes);
    }
    return transfer.body_status ? bytes.size() : CURL_WRITEFUNC_ERROR;
  }

  static std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    Response& response = transfer.response;
    transfer.moved = Clock::now();
    std::string_view line(data, size * count);
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {
      response = {};  // A final answer begins, perhaps after an interim one.
      transfer.compressed = false;
      long code = 0;
      curl_easy_getinfo(transfer.easy.get(), CURLINFO_RESPONSE_CODE, &code);
      response.code = static_cast<int>(code);
      return size * count;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return size * count;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
    const auto is = [name = line.substr(0, colon)](std::string_view wanted) {
      return name.size() == wanted.size() && strncasecmp(name.data(), wanted.data(), wanted.size()) == 0;
    };
    if (is("content-type")) response.content_type = value;
    if (is("retry-after")) response.retry_after = value;
    if (is("date")) response.date = value;
    if (is("content-encoding")) transfer.compressed = value != "identity";
    if (is("warning")) response.warnings.emplace_back(value);
    return size * count;
  }

  /// Reports each transfer that has ended; returns whether there was one.
  bool FinishDone() {
    bool any = false;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      any = true;
      Transfer* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      const CURLcode code = message->data.result;  // `message` dies with the handle's removal.
      Finish(*transfer, code);
    }
    return any;
  }

  /// Takes a transfer out of those in flight.
  std::unique_ptr<Transfer> Take(const Transfer& ended) {
    const auto place = std::find_if(transfers_.begin(), transfers_.end(),
                                    [&ended](const auto& transfer) { return transfer.get() == &ended; });
    std::unique_ptr<Transfer> transfer = std::move(*place);
    transfers_.erase(place);
    curl_multi_remove_handle(multi_.get(), transfer->easy.get());
    return transfer;
  }

  void Finish(Transfer& ended, CURLcode code) {
    const std::unique_ptr<Transfer> transfer = Take(ended);
    if (transfer->body_status && code == CURLE_OK) {
      Trace(*transfer, {});
      // One with earlier credentials in it is of no more use.
      if (transfer->identity == &identities_.back()) idle_.push_back(std::move(transfer->easy));
      if (transfer->response.code == 401 && renew_) return SendOnceMore(*transfer);
      return transfer->on_done(std::move(transfer->response));
    }
    if (!transfer->body_status) return FailWithBody(*transfer);
    long os_errno = 0;
    curl_easy_getinfo(transfer->easy.get(), CURLINFO_OS_ERRNO, &os_errno);
    FailOnTheWay(*transfer, DescribeFailure(code, transfer->error.data(), os_errno, ProgressOf(*transfer)));
  }

  /// What came is not what `on_body`, or a limit, allows.
  void FailWithBody(Transfer& transfer) {
    Error error = std::move(transfer.body_status).error();
    if (error.code == ErrorCode::kMalformed) error.message += NotJsonWords(transfer.response.content_type);
    Trace(transfer, error.message);
    transfer.on_done(tl::unexpected<Error>(std::move(error)));
  }

  /// No whole answer came.
  void FailOnTheWay(Transfer& transfer, Error error) {
    if (error.code == ErrorCode::kUnavailable && !ProgressOf(transfer).sent) error.code = ErrorCode::kUnreachable;
    Trace(transfer, error.message);
    error.message = "cannot reach " + connection().server + ": " + error.message + Origin();
    transfer.on_done(tl::unexpected<Error>(std::move(error)));
  }

  static Progress ProgressOf(const Transfer& transfer) {
    curl_off_t connected = 0;
    long sent = 0;
    curl_easy_getinfo(transfer.easy.get(), CURLINFO_APPCONNECT_TIME_T, &connected);
    curl_easy_getinfo(transfer.easy.get(), CURLINFO_REQUEST_SIZE, &sent);
    return {.connected = connected > 0 || sent > 0,
            .sent = sent > 0,
            .bytes = transfer.bytes,
            .answered = transfer.response.code != 0,
            .took = std::chrono::duration_cast<milliseconds>(Clock::now() - transfer.started)};
  }

  /// A request that was answered 401 was not performed, so it may be sent again, whatever it is.
  void SendOnceMore(Transfer& refused) {
    if (refused.identity == &identities_.back()) {
      if (renewed_at_ && Clock::now() - *renewed_at_ < kBetweenRenewals)
        return refused.on_done(std::move(refused.response));
      renewed_at_ = Clock::now();
      Connection newer = connection();
      const Result<bool> renewed = renew_(newer);
      if (!renewed) return refused.on_done(tl::unexpected<Error>(renewed.error()));
      if (!*renewed) return refused.on_done(std::move(refused.response));
      idle_.clear();
      TakeOn(std::move(newer));
    }
    refused.request.delay = milliseconds(0);
    Start(std::move(refused.request), std::move(refused.on_done));
  }

  std::string Origin() const { return connection().origin.empty() ? "" : " (" + connection().origin + ")"; }

  void Trace(const Transfer& transfer, const std::string& error) const {
    if (!on_trace_) return;
    on_trace_({.method = transfer.request.method,
               .path = transfer.request.path,
               .code = error.empty() ? transfer.response.code : 0,
               .bytes = transfer.bytes,
               .took = std::chrono::duration_cast<milliseconds>(Clock::now() - transfer.started),
               .error = error});
  }

  /// Waits for bytes, the next due request, the stop signal, or the deadline.
  void Poll() {
    milliseconds wait = std::chrono::duration_cast<milliseconds>(limits_.deadline - Clock::now());
    if (!waiting_.empty()) {
      wait = std::min(wait, std::chrono::duration_cast<milliseconds>(waiting_.begin()->first - Clock::now()));
    }
    for (const auto& transfer : transfers_) {
      const auto stalls = transfer->moved + StallTimeout(*transfer);
      wait = std::min(wait, std::chrono::ceil<milliseconds>(stalls - Clock::now()));
    }
    if (abandon_at_) wait = std::min(wait, std::chrono::ceil<milliseconds>(*abandon_at_ - Clock::now()));
    if (stop_requested()) wait = std::min(wait, kStopGrace);
    wait = std::clamp(wait, milliseconds(1), milliseconds(60000));
    curl_waitfd stop{.fd = limits_.stop_fd, .events = CURL_WAIT_POLLIN, .revents = 0};
    // Once the signal was seen its descriptor stays readable and would turn the wait into a spin.
    const bool watch = limits_.stop_fd >= 0 && !stop_requested();
    curl_multi_poll(multi_.get(), &stop, watch ? 1 : 0, static_cast<int>(wait.count()), nullptr);
  }

  /// Waits, with nothing in flight, until a delayed request is due or the pass is to end.
  void WaitForDue() {
    if (!stopping() && waiting_.begin()->first > Clock::now()) Poll();
  }

  milliseconds StallTimeout(const Transfer& transfer) const {
    return transfer.request.is_watch ? limits_.watch_stall_timeout : limits_.stall_timeout;
  }

  /// Gives up what has not moved for too long. libcurl's own watch goes by an average, which a fast start holds up.
  void EndStalled() {
    const auto stalled = [this](const auto& transfer) {
      return Clock::now() - transfer->moved >= StallTimeout(*transfer);
    };
    for (auto next = std::find_if(transfers_.begin(), transfers_.end(), stalled); next != transfers_.end();
         next = std::find_if(transfers_.begin(), transfers_.end(), stalled)) {
      const std::unique_ptr<Transfer> transfer = Take(**next);
      FailOnTheWay(*transfer, {ErrorCode::kUnavailable, TimeoutWords(ProgressOf(*transfer))});
    }
  }

  /// Gives up what is still in flight when the time after a stop signal is over. The deadline needs no such
  /// care: it is each transfer's own limit.
  void AbandonLate() {
    if (!stop_requested()) return;
    if (stopped_at_ == Clock::time_point()) stopped_at_ = Clock::now();
    const bool only_watches = std::all_of(transfers_.begin(), transfers_.end(),
                                          [](const auto& transfer) { return transfer->request.is_watch; });
    if (only_watches || Clock::now() - stopped_at_ >= kStopGrace) EndInFlight("abandoned: told to end");
  }

  void EndAll() {
    abandon_at_.reset();
    for (auto& [due, next] : std::exchange(waiting_, {})) next.on_done(Fail(ErrorCode::kStopped, "given up"));
    EndInFlight("given up");
  }

  void EndInFlight(const std::string& why) {
    while (!transfers_.empty()) {
      const std::unique_ptr<Transfer> transfer = Take(*transfers_.back());
      Trace(*transfer, why);
      transfer->on_done(Fail(ErrorCode::kStopped, why));
    }
  }

  std::list<Identity> identities_;  ///< The last one counts.
  TransportLimits limits_;
  OnTrace on_trace_;
  Renew renew_;
  std::optional<Clock::time_point> renewed_at_;
  Address address_;
  std::string base_url_;
  Slist connect_to_;
  Multi multi_;
  std::multimap<Clock::time_point, Waiting> waiting_;  ///< By the time they are due.
  std::vector<std::unique_ptr<Transfer>> transfers_;   ///< In flight.
  std::vector<Easy> idle_;
  Clock::time_point stopped_at_;
  int watches_ = 0;                              ///< That were begun.
  std::optional<Clock::time_point> abandon_at_;  ///< All that was begun then is given up.
};

CurlTransport::CurlTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CurlTransport::~CurlTransport() = default;

Result<std::unique_ptr<CurlTransport>> CurlTransport::Create(Connection connection, TransportLimits limits,
                                                             OnTrace on_trace, Renew renew) {
  // NOSIGNAL keeps libcurl from ignoring SIGPIPE, so the program must; a closed peer is an error value here.
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c)
  static const CURLcode kInitialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kInitialised != CURLE_OK) return Fail(ErrorCode::kInvalid, "cannot set up libcurl");
  Result<Address> address = ParseAddress(connection.server);
  if (!address) return Annotate(std::move(address).error(), "server");
  return std::unique_ptr<CurlTransport>(new CurlTransport(std::make_unique<Impl>(
      std::move(connection), std::move(limits), std::move(on_trace), std::move(renew), *std::move(address))));
}

void CurlTransport::Start(Request request, OnDone on_done) {
  impl_->Start(std::move(request), std::move(on_done));
}
void CurlTransport::RunUntilIdle() {
  impl_->RunUntilIdle();
}
void CurlTransport::Abandon(milliseconds after) {
  impl_->Abandon(after);
}
void CurlTransport::set_time_left(milliseconds left) {
  impl_->set_time_left(left);
}
bool CurlTransport::stopping() const {
  return impl_->stopping();
}

milliseconds CurlTransport::time_left() const {
  return impl_->time_left();
}

std::string CurlVersion() {
  const curl_version_info_data* info = curl_version_info(CURLVERSION_NOW);
  return std::string("libcurl ") + info->version + ", " + (info->ssl_version != nullptr ? info->ssl_version : "no TLS");
}

}  // namespace cnpa
