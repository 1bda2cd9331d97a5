// SPDX-License-Identifier: Apache-2.0
#include "app/pass/event_sender.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "kube/codec/event_codec.h"

namespace cnpa {
namespace {

/// Returns the first of each that are alike, and no more than are sent.
std::vector<Event> ToSend(const std::vector<Event>& events, const Log& log) {
  std::vector<Event> chosen;
  std::set<std::string> names;
  for (const Event& event : events) {
    if (names.insert(EventName(event)).second && chosen.size() < kMostEvents) chosen.push_back(event);
  }
  if (names.size() > chosen.size()) {
    log.Debug(
        fmt::format("{} events of this pass are not sent: more than {}", names.size() - chosen.size(), kMostEvents));
  }
  return chosen;
}

class Sending {
 public:
  Sending(const EventSender& sender, std::vector<Event> events, Time now)
      : sender_(sender), client_(sender.client), events_(std::move(events)), now_(now) {}

  void Run() {
    BeginMore();
    client_.RunUntilIdle();
  }

 private:
  void BeginMore() {
    while (!given_up_ && !client_.stopping() && active_ < sender_.concurrency && next_ < events_.size()) {
      ++active_;
      Begin(events_[next_++]);
    }
  }

  void Begin(const Event& event) {
    client_.Tell(EncodeEvent(event, sender_.instance, now_), [this, &event](const Result<std::string>& made) {
      if (!made && made.error().code == ErrorCode::kConflict) return Read(event);
      End(made);
    });
  }

  void Read(const Event& event) {
    if (given_up_ || client_.stopping()) return End({});
    client_.Tell({.method = Method::kGet, .path = EventPath(event)}, [this, &event](Result<std::string> body) {
      if (!body) return End(body);
      const Result<EventSeries> observed = DecodeEvent(*std::move(body));
      if (!observed) return End(tl::unexpected<Error>(observed.error()));
      CountOnceMore(event, *observed);
    });
  }

  void CountOnceMore(const Event& event, const EventSeries& observed) {
    if (given_up_ || client_.stopping()) return End({});
    client_.Tell(EncodeEventAgain(event, observed, now_), [this](const Result<std::string>& done) { End(done); });
  }

  void End(const Result<std::string>& done) {
    --active_;
    if (!done) Judge(done.error());
    BeginMore();
  }

  void Judge(const Error& error) {
    switch (error.code) {
      case ErrorCode::kDenied:
        // Once: those that are on their way are refused in the same words.
        if (!given_up_) TellDenied(error.message);
        given_up_ = true;
        return;
      case ErrorCode::kUnreachable:
      case ErrorCode::kUnavailable:
      case ErrorCode::kStopped: given_up_ = true; break;
      case ErrorCode::kInvalid:
      case ErrorCode::kNotFound:  // It has expired meanwhile,
      case ErrorCode::kConflict:  // or another pass has counted it.
      case ErrorCode::kTerminating:
      case ErrorCode::kMalformed:
      case ErrorCode::kUnsupported: break;
    }
    sender_.log.Debug("an event is not sent: " + error.message);
  }

  /// A warning is told by the loop once an hour at most.
  void TellDenied(const std::string& message) const {
    const char* way_out = message.starts_with("forbidden") ? ", or --no-events" : "";
    sender_.log.Warn("no events are sent: " + message + way_out);
  }

  const EventSender& sender_;
  Client& client_;
  std::vector<Event> events_;
  Time now_;
  std::size_t next_ = 0;
  std::size_t active_ = 0;
  bool given_up_ = false;
};

}  // namespace

void EventSender::Send(const std::vector<Event>& events, Time now) const {
  if (events.empty()) return;
  Sending(*this, ToSend(events, log), now).Run();
}

}  // namespace cnpa
