// SPDX-License-Identifier: Apache-2.0
#include "kube/http/curl_transport.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/auth/exec_plugin.h"
#include "kube/auth/header_value.h"
#include "kube/http/api_error.h"
#include "kube/http/curl_failure.h"
#include "kube/http/curl_handles.h"
#include "kube/http/curl_setup.h"
#include "kube/http/curl_transfer.h"

namespace cnpa {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kNever = std::chrono::hours(24);
constexpr milliseconds kBetweenRenewals = std::chrono::seconds(30);

}  // namespace

class CurlTransport::Impl {
 public:
  Impl(Connection connection, TransportLimits limits, OnTrace on_trace, Renew renew, ServerAddress address)
      : limits_(std::move(limits)),
        on_trace_(std::move(on_trace)),
        renew_(std::move(renew)),
        address_(std::move(address)) {
    TakeOn(std::move(connection));
  }

  ~Impl() {
    for (const auto& transfer : transfers_) curl_multi_remove_handle(multi_.get(), transfer->easy());
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

  const Connection& connection() const { return setup_->connection(); }

  /// Has all requests from now on sent as `connection` says, over connections of their own: libcurl would not see that
  /// those that are there were made with another certificate.
  ///
  /// Requires: nothing is in flight.
  void TakeOn(Connection connection) {
    idle_.clear();
    multi_.reset(curl_multi_init());
    setup_ = std::make_unique<CurlSetup>(std::move(connection), address_);
    SetConnections(limits_.connections + watches_);
  }

  bool stop_requested() const { return limits_.stop_requested && limits_.stop_requested(); }

  /// Returns whether credentials were renewed, and what is in flight with the old ones has to end before more begins.
  bool waits_for_renewal() const { return renewed_ && !transfers_.empty(); }

  void BeginDue() {
    if (waits_for_renewal() && !stopping()) return;
    if (renewed_ && !stopping()) TakeOn(*std::exchange(renewed_, std::nullopt));
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
    CurlEasy easy;
    if (idle_.empty()) {
      easy.reset(curl_easy_init());
      setup_->Apply(easy.get(), limits_.connect_timeout);
    } else {
      easy = std::move(idle_.back());
      idle_.pop_back();
    }
    // A watch keeps its connection, and must keep none from the others.
    if (next.request.is_watch) SetConnections(limits_.connections + ++watches_);
    const milliseconds time_left = TimeLeft(next.request);
    auto transfer = std::make_unique<CurlTransfer>(std::move(next.request), std::move(next.on_done), *setup_,
                                                   std::move(easy), time_left);
    curl_multi_add_handle(multi_.get(), transfer->easy());
    transfers_.push_back(std::move(transfer));
  }

  void SetConnections(int most) const {
    curl_multi_setopt(multi_.get(), CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(most));
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(most));
  }

  /// Returns how long a request may take, at least a millisecond: 0 would mean for ever.
  milliseconds TimeLeft(const Request& request) const {
    const auto left = std::chrono::duration_cast<milliseconds>(limits_.deadline - Clock::now());
    const milliseconds own = request.timeout.count() > 0 ? request.timeout : kNever;
    return std::clamp(std::min(left, own), milliseconds(1), kNever);
  }

  /// Reports each transfer that has ended; returns whether there was one.
  bool FinishDone() {
    bool any = false;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      any = true;
      CurlTransfer& transfer = CurlTransfer::Of(message->easy_handle);
      const CURLcode code = message->data.result;  // `message` dies with the handle's removal.
      Finish(transfer, code);
    }
    return any;
  }

  /// Takes a transfer out of those in flight.
  std::unique_ptr<CurlTransfer> Take(const CurlTransfer& ended) {
    const auto place = std::find_if(transfers_.begin(), transfers_.end(),
                                    [&ended](const auto& transfer) { return transfer.get() == &ended; });
    std::unique_ptr<CurlTransfer> transfer = std::move(*place);
    transfers_.erase(place);
    curl_multi_remove_handle(multi_.get(), transfer->easy());
    return transfer;
  }

  void Finish(const CurlTransfer& ended, CURLcode code) {
    const std::unique_ptr<CurlTransfer> transfer = Take(ended);
    if (!transfer->body_status()) return FailWithBody(*transfer);
    if (code != CURLE_OK) return FailOnTheWay(*transfer, transfer->Failure(code));
    Trace(*transfer, {});
    idle_.push_back(transfer->TakeEasy());
    // A watch does not wait for the others that go on; who asked for it looks anew.
    if (renew_ && !transfer->request().is_watch && RefusesCredentials(transfer->request(), transfer->response())) {
      return SendOnceMore(*transfer);
    }
    transfer->DoneWithResponse();
  }

  /// What came is not what `on_body`, or a limit, allows.
  void FailWithBody(const CurlTransfer& transfer) const {
    Error error = transfer.body_status().error();
    if (error.code == ErrorCode::kMalformed) error.message += NotJsonWords(transfer.response().content_type);
    Trace(transfer, error.message);
    transfer.Done(tl::unexpected<Error>(std::move(error)));
  }

  /// No whole answer came.
  void FailOnTheWay(const CurlTransfer& transfer, Error error) const {
    if (error.code == ErrorCode::kUnavailable && !transfer.progress().sent) error.code = ErrorCode::kUnreachable;
    Trace(transfer, error.message);
    const std::string& origin = connection().origin;
    error.message = "cannot reach " + connection().server + ": " + error.message;
    if (!origin.empty()) error.message += " (" + origin + ")";
    transfer.Done(tl::unexpected<Error>(std::move(error)));
  }

  /// A request whose credentials were refused was not performed, so it may be sent again, whatever it is.
  void SendOnceMore(CurlTransfer& refused) {
    if (!renewed_) {
      if (renewed_at_ && Clock::now() - *renewed_at_ < kBetweenRenewals) return refused.DoneWithResponse();
      renewed_at_ = Clock::now();
      Connection newer = connection();
      const Result<bool> renewed = RenewCredentials(newer);
      if (!renewed) return refused.Done(tl::unexpected<Error>(renewed.error()));
      if (!*renewed) return refused.DoneWithResponse();
      renewed_ = std::move(newer);
    }
    Request request = refused.TakeRequest();
    request.delay = milliseconds(0);
    Start(std::move(request), refused.TakeOnDone());
  }

  /// Returns whether `newer` has other credentials now. The time in which somebody is asked for them is not the pass's.
  Result<bool> RenewCredentials(Connection& newer) {
    const auto began = Clock::now();
    Result<bool> renewed = renew_(newer);
    if (MayAsk(newer.exec)) limits_.deadline += Clock::now() - began;
    if (!renewed || !*renewed) return renewed;
    if (Status fits = CheckHeaderValues(newer); !fits) return Annotate(std::move(fits).error(), newer.origin);
    return true;
  }

  void Trace(const CurlTransfer& transfer, const std::string& error) const {
    if (!on_trace_) return;
    on_trace_({.method = transfer.request().method,
               .path = transfer.request().path,
               .code = error.empty() ? transfer.response().code : 0,
               .bytes = transfer.bytes(),
               .took = transfer.age(),
               .error = error});
  }

  /// Waits for bytes, the next due request, the stop signal, or the deadline.
  void Poll() {
    milliseconds wait = std::chrono::duration_cast<milliseconds>(limits_.deadline - Clock::now());
    if (!waiting_.empty() && !waits_for_renewal()) {
      wait = std::min(wait, std::chrono::duration_cast<milliseconds>(waiting_.begin()->first - Clock::now()));
    }
    for (const auto& transfer : transfers_) {
      const auto stalls = transfer->moved() + StallTimeout(*transfer);
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

  milliseconds StallTimeout(const CurlTransfer& transfer) const {
    return transfer.request().is_watch ? limits_.watch_stall_timeout : limits_.stall_timeout;
  }

  /// Gives up what has not moved for too long. libcurl's own watch goes by an average, which a fast start holds up.
  void EndStalled() {
    const auto stalled = [this](const auto& transfer) {
      return Clock::now() - transfer->moved() >= StallTimeout(*transfer);
    };
    for (auto next = std::find_if(transfers_.begin(), transfers_.end(), stalled); next != transfers_.end();
         next = std::find_if(transfers_.begin(), transfers_.end(), stalled)) {
      const std::unique_ptr<CurlTransfer> transfer = Take(**next);
      FailOnTheWay(*transfer, {ErrorCode::kUnavailable, TimeoutWords(transfer->progress())});
    }
  }

  /// Gives up what is still in flight when the time after a stop signal is over. The deadline needs no such
  /// care: it is each transfer's own limit.
  void AbandonLate() {
    if (!stop_requested()) return;
    if (stopped_at_ == Clock::time_point()) stopped_at_ = Clock::now();
    const bool only_watches = std::all_of(transfers_.begin(), transfers_.end(),
                                          [](const auto& transfer) { return transfer->request().is_watch; });
    if (only_watches || Clock::now() - stopped_at_ >= kStopGrace) EndInFlight("abandoned: told to end");
  }

  void EndAll() {
    abandon_at_.reset();
    for (auto& [due, next] : std::exchange(waiting_, {})) next.on_done(Fail(ErrorCode::kStopped, "given up"));
    EndInFlight("given up");
  }

  void EndInFlight(const std::string& why) {
    while (!transfers_.empty()) {
      const std::unique_ptr<CurlTransfer> transfer = Take(*transfers_.back());
      Trace(*transfer, why);
      transfer->Done(Fail(ErrorCode::kStopped, why));
    }
  }

  TransportLimits limits_;
  OnTrace on_trace_;
  Renew renew_;
  std::optional<Clock::time_point> renewed_at_;
  std::optional<Connection> renewed_;  ///< Credentials to go on with.
  ServerAddress address_;
  std::unique_ptr<CurlSetup> setup_;
  CurlMulti multi_;
  std::multimap<Clock::time_point, Waiting> waiting_;     ///< By the time they are due.
  std::vector<std::unique_ptr<CurlTransfer>> transfers_;  ///< In flight.
  std::vector<CurlEasy> idle_;
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
  // Into whose contexts we put certificates and keys.
  const char* tls = curl_version_info(CURLVERSION_NOW)->ssl_version;
  if (tls == nullptr || !std::string_view(tls).starts_with("OpenSSL/")) {
    return Fail(ErrorCode::kInvalid, "needs a libcurl that is built with OpenSSL, and this is " + CurlVersion());
  }
  Result<ServerAddress> address = ParseServerAddress(connection.server);
  if (!address) return Annotate(std::move(address).error(), "server");
  if (Status fits = CheckHeaderValues(connection); !fits) return tl::unexpected<Error>(std::move(fits).error());
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
