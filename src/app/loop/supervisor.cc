// SPDX-License-Identifier: Apache-2.0
#include "app/loop/supervisor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <limits>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "app/loop/pace.h"
#include "app/render/render.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/time.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;

// A stop is over within 5 s: a pass gives up what is in flight sooner than that.
constexpr milliseconds kStopLimit{4500};
constexpr milliseconds kReadyAgain{100};
constexpr std::chrono::minutes kLingerAgain{10};   // After it was forbidden, or went wrong.
constexpr std::chrono::minutes kForgetTrouble{1};  // So much later that is over.
// What never stops talking must come to its deadline.
constexpr int kReadsAtOnce = 16;
constexpr int kReadAll = std::numeric_limits<int>::max();
// Each holds its memory and its place among the tasks of a service until its disk is back.
constexpr std::size_t kMostLeftBehind = 4;
constexpr std::array kSignals{SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD};

milliseconds Span(std::chrono::steady_clock::duration span) {
  return std::chrono::duration_cast<milliseconds>(span);
}

sigset_t SignalsOfLoop() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : kSignals) ::sigaddset(&set, signal);
  return set;
}

}  // namespace

sigset_t Supervisor::BlockSignals() {
  const sigset_t set = SignalsOfLoop();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &set, &before);
  return before;
}

Supervisor::Supervisor(LoopSettings settings, LoopWork work, const Log& log, ServiceManager manager)
    : settings_(settings), work_(std::move(work)), log_(log), manager_(std::move(manager)) {}

ExitCode Supervisor::Run() {
  TakeSignals();
  // What a pass that is killed leaves behind, such as the children of a plugin, becomes ours to end.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  started_ = next_pass_ = next_ping_ = Clock::now();
  // The first lists may take as long as a pass may.
  const auto patience = settings_.pass_limit + kStopLimit;
  manager_.Notify(fmt::format("EXTEND_TIMEOUT_USEC={}", std::chrono::microseconds(patience).count()));
  while (!exit_code_) {
    if (MayStartPass() && Clock::now() >= next_pass_) StartPass();
    Wait();
    HandleSignals();
    if (pass_) ReadReport(kReadsAtOnce);
    Reap();
    CheckDeadlines();
    if (stopping_ && !pass_ && !exit_code_) exit_code_ = ExitCode::kConverged;
  }
  manager_.Notify("STOPPING=1");
  return *exit_code_;
}

void Supervisor::TakeSignals() {
  BlockSignals();
  // Whoever started us may have had it ignored: then nobody could wait for a child.
  ::signal(SIGCHLD, SIG_DFL);  // NOLINT(cert-err33-c)
  const sigset_t set = SignalsOfLoop();
  signals_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// Waits for a signal, for something that the pass says, or for the next thing that is due.
void Supervisor::Wait() {
  const auto left = std::max(NextEvent() - Clock::now(), Clock::duration(0));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec span{.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(left - seconds).count()};
  std::array<pollfd, 2> polls{pollfd{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                              pollfd{.fd = pass_ ? pass_->report_fd() : -1, .events = POLLIN, .revents = 0}};
  // The pipe of a pass that ends is readable before its end is told: then there is a SIGCHLD to come.
  ::ppoll(polls.data(), polls.size(), &span, nullptr);
}

Supervisor::Clock::time_point Supervisor::NextEvent() const {
  Clock::time_point next = Clock::now() + std::chrono::hours(1);
  if (pass_) next = std::min(next, pass_->next_event());
  if (MayStartPass()) next = std::min(next, next_pass_);
  if (manager_.watchdog()) next = std::min(next, next_ping_);
  if (ready_untold_) next = std::min(next, Clock::now() + kReadyAgain);
  return next;
}

void Supervisor::HandleSignals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) HandleSignal(static_cast<int>(info.ssi_signo));
}

void Supervisor::HandleSignal(int signal) {
  switch (signal) {
    case SIGTERM:
    case SIGINT:
      if (stopping_) {
        if (pass_) pass_->Kill();
        return;
      }
      stopping_ = true;
      manager_.Notify("STOPPING=1\nSTATUS=ending the last pass");
      if (!pass_) return;
      pass_->Signal(SIGTERM);
      pass_->Hurry(kStopLimit);
      return;
    case SIGHUP:
      if (!stopping_) Reload();
      return;
    case SIGUSR1: TellState(); return;
    default: return;  // SIGCHLD: who has ended is looked at in each round.
  }
}

bool Supervisor::MayStartPass() const {
  return !pass_ && !stopping_ && left_behind_.size() < kMostLeftBehind;
}

void Supervisor::StartPass() {
  heard_ = {};
  TellLeftBehind();
  const PassHint hint{.may_linger = Clock::now() >= may_linger_from_,
                      .team_space = std::exchange(team_space_, {}),
                      .introduce = summary_.empty()};
  Result<RunningPass> started = RunningPass::Start([this, &hint](int report_fd) { return work_.pass(report_fd, hint); },
                                                   settings_.pass_limit, settings_.patience);
  if (started) {
    pass_started_ = started->started();
    pass_ = *std::move(started);
    return;
  }
  pass_started_ = Clock::now();
  Tell({LogLevel::kError, true, started.error().message, {}, {}});
  heard_.ended = PassEnded{};
  OnProcessOver(W_EXITCODE(static_cast<int>(ExitCode::kUnreadable), 0));
}

void Supervisor::ReadReport(int most_reads) {
  pass_->Read(most_reads, [this](const Result<PassMessage>& message) { Handle(message); });
}

void Supervisor::Handle(const Result<PassMessage>& message) {
  if (!message) return Tell({LogLevel::kWarn, true, message.error().message, {}, {}});
  if (const auto* entry = std::get_if<LogEntry>(&*message)) return Tell(*entry);
  if (const auto* ended = std::get_if<PassEnded>(&*message)) {
    heard_.ended = *ended;
  } else if (const auto* wake = std::get_if<Wake>(&*message)) {
    heard_.wake = *wake;
  } else if (std::holds_alternative<PassLingers>(*message)) {
    OnLinger();
  } else {
    BecomeReady();
  }
}

/// Tells what the running pass says, unless that was told before.
void Supervisor::Tell(const LogEntry& entry) {
  if (entry.level == LogLevel::kError && entry.trouble.empty() && heard_.failure.empty()) heard_.failure = entry.text;
  if (troubles_.Note(entry, Clock::now())) log_.Write(entry);
}

void Supervisor::Reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
    const bool is_pass = pass_ && pid == pass_->pid();
    const bool killed = WIFSIGNALED(status) && (is_pass || WTERMSIG(status) == SIGKILL);
    left_behind_.erase(pid);
    if (killed) KillStrays();
    if (is_pass) OnGone(status);
  }
}

/// Ends what a pass had started that was killed: by now these processes are our own children, beside passes.
void Supervisor::KillStrays() const {
  std::ifstream children("/proc/thread-self/children");
  for (pid_t pid = 0; children >> pid;) {
    if (!left_behind_.contains(pid) && !(pass_ && pid == pass_->pid())) ::kill(pid, SIGKILL);
  }
}

/// The process of a pass has ended, or will never be heard of again.
void Supervisor::OnGone(int status) {
  pass_->LetGo();
  ReadReport(kReadAll);
  pass_.reset();
  if (heard_.lingers) {
    OnWake(status);
  } else {
    OnProcessOver(status);
  }
}

/// The process of a pass that did not linger has ended.
void Supervisor::OnProcessOver(int status) {
  const std::optional<PassEnded>& ended = heard_.ended;
  if (ended && WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ended->code)) {
    return OnPassOver(PassEndOf(ended->code), *ended);
  }
  if (!heard_.overdue) {
    Tell({LogLevel::kError, true, fmt::format("a pass was ended by {}", DescribeWaitStatus(status)), {}, {}});
  }
  // A pass that is killed since it would not stop has not crashed.
  OnPassOver(heard_.overdue ? PassEnd::kOverdue : stopping_ ? PassEnd::kStopped : PassEnd::kCrashed, {});
}

void Supervisor::OnPassOver(PassEnd end, const PassEnded& ended) {
  const auto now = Clock::now();
  last_took_ = Span(now - pass_started_);
  last_end_ = now;
  ++passes_;
  const bool wrote = ended.numbers.wrote();
  if (wrote) last_write_ = now;
  const bool woken = std::exchange(woken_, false);
  if (woken || wrote) false_alarm_ = !wrote;
  CountPass({.end = end,
             .took = std::chrono::duration_cast<std::chrono::microseconds>(now - pass_started_),
             .ended_at = Now(),
             .numbers = ended.numbers});
  for (const LogEntry& over : troubles_.EndPass(ended.looked, now)) log_.Write(over);
  if (ended.looked != Looked::kAtNothing && !ended.summary.empty()) summary_ = ended.summary;
  if (ended.looked != Looked::kAtNothing) {
    unreadable_ = 0;
  } else if (unreadable_++ == 0) {
    unread_since_ = pass_started_;
  }
  last_failure_ = heard_.failure.empty() ? "the last pass did not end by itself" : heard_.failure;
  loaded_by_systemd_ = ended.loaded_by_systemd;
  next_pass_ = now;
  if (!std::exchange(reloaded_, false)) next_pass_ += ComputePause(settings_.interval, unreadable_);
  if (stopping_) return;
  if (passes_ == 1 && ended.code == ExitCode::kUsage) {
    // Whoever looks at a failed service may not see its journal.
    manager_.Notify(StatusAssignment(last_failure_));
    exit_code_ = ExitCode::kUsage;
    return;
  }
  BecomeReady();
  manager_.Notify(StatusAssignment(StatusText()));
  if (EndForNewKubeconfig(ended, now)) exit_code_ = ExitCode::kUnreadable;
}

/// Returns whether to end since systemd may have a kubeconfig that fits, and says so.
bool Supervisor::EndForNewKubeconfig(const PassEnded& ended, Clock::time_point now) {
  const auto unread = unreadable_ == 0 ? milliseconds(0) : Span(now - unread_since_);
  if (!ShouldEndForKubeconfig({.loaded_by_systemd = ended.loaded_by_systemd,
                               .refused = ended.unauthorized,
                               .running_for = Span(now - started_),
                               .unread_for = unread})) {
    return false;
  }
  log_.Error(
      ended.unauthorized
          ? "the server no longer accepts the credentials that systemd loaded at the start: exiting, to be restarted "
            "with those that are there now"
          : fmt::format("nothing could be read for {} with the kubeconfig that systemd loaded at the start: "
                        "exiting, to be restarted with the one that is there now",
                        FormatDuration(unread)));
  return true;
}

/// The pass is over, its process is not.
void Supervisor::OnLinger() {
  if (!heard_.ended) return;
  heard_.lingers = true;
  pass_->SetLimit(settings_.linger_limit);
  const bool reloaded = reloaded_;
  OnPassOver(PassEndOf(heard_.ended->code), *heard_.ended);
  reloaded_ = reloaded;
  if (reloaded_) WakePass();
}

/// The first SIGTERM has the process come to its end, a second one would kill it.
void Supervisor::WakePass() {
  if (!std::exchange(heard_.told_to_wake, true)) pass_->Signal(SIGTERM);
}

/// The process of a pass that has lingered has ended.
void Supervisor::OnWake(int status) {
  const auto now = Clock::now();
  heard_.lingers = false;
  if (stopping_) return;
  if (!heard_.overdue && !WIFEXITED(status)) OnBadEnd("was ended by " + DescribeWaitStatus(status));
  // Right after its start a server knows no rights, and another one may have answered the lists.
  const bool forbidden = heard_.wake && heard_.wake->cause == WakeCause::kForbidden;
  if (std::exchange(forbidden_, forbidden) && forbidden) {
    DoWithoutLingering(LogLevel::kWarn, "--linger is off for 10 minutes: no permission to watch: " + heard_.wake->words,
                       "no permission to watch");
  }
  if (std::exchange(reloaded_, false)) {
    next_pass_ = now;
    return;
  }
  // The interval bounds how often something is written, and how often in vain something is looked for.
  woken_ = heard_.wake && heard_.wake->cause == WakeCause::kSomethingToDo;
  const bool at_once = woken_ && !false_alarm_;
  if (woken_) team_space_ = heard_.wake->team_space;
  const std::optional<Clock::time_point> since = at_once ? last_write_ : last_end_;
  next_pass_ = since ? std::max(now, *since + settings_.interval) : now;
}

void Supervisor::OnBadEnd(const std::string& how) {
  DoWithoutLingering(LogLevel::kError, "a pass that lingered " + how, "a pass that lingers does not end well");
}

void Supervisor::DoWithoutLingering(LogLevel level, std::string text, std::string trouble) {
  may_linger_from_ = Clock::now() + kLingerAgain;
  Tell({.level = level,
        .is_message = true,
        .text = std::move(text),
        .trouble = std::move(trouble),
        .fields = {},
        .lasts = kLingerAgain + kForgetTrouble});
}

void Supervisor::CountPass(const FinishedPass& pass) {
  const Status counted = work_.count(pass);
  if (counted) return;
  const Error& error = counted.error();
  const char* trouble = error.code == ErrorCode::kMalformed ? "" : "no metrics can be written";
  Tell({LogLevel::kWarn, true, error.message, trouble, {}});
}

void Supervisor::CheckDeadlines() {
  const auto now = Clock::now();
  if (pass_) CheckPass();
  if (ready_untold_) TellReady();
  if (manager_.watchdog() && now >= next_ping_) {
    manager_.Notify("WATCHDOG=1");
    next_ping_ = now + *manager_.watchdog() / 3;
  }
}

void Supervisor::CheckPass() {
  switch (pass_->CheckLimit()) {
    case RunningPass::Due::kNothing: return;
    case RunningPass::Due::kKilled:
      if (!stopping_) OnOverdue();
      return;
    case RunningPass::Due::kUndying: return LeaveBehind();
  }
}

/// Names it at once: one that can't be killed has no end at which to do so.
void Supervisor::OnOverdue() {
  heard_.overdue = true;
  if (heard_.lingers) {
    OnBadEnd("did not wake up in time: killed");
  } else {
    const std::string limit = FormatDuration(settings_.pass_limit);
    Tell({LogLevel::kError, true, fmt::format("a pass did not end within {}: killed", limit), {}, {}});
  }
  manager_.Notify("STATUS=killing a pass that did not end in time");
}

/// A pass that waits in the kernel ends there at some time, and does nothing more. Until then the others go on.
void Supervisor::LeaveBehind() {
  if (stopping_) {
    log_.Warn("the last pass can't even be killed: left behind");
    pass_->LetGo();
    pass_.reset();
    return;
  }
  left_behind_.insert(pass_->pid());
  TellLeftBehind();
  OnGone(SIGKILL);
}

/// Says what is so as long as one is left behind, so that it is logged when that begins and when it is over.
void Supervisor::TellLeftBehind() {
  if (left_behind_.empty()) return;
  std::string text = "a pass can't be killed, since it waits for a disk or a network file system: left behind";
  const bool full = left_behind_.size() >= kMostLeftBehind;
  if (full) text += fmt::format("; with {} of them no other one is started", left_behind_.size());
  Tell({.level = LogLevel::kError,
        .is_message = true,
        .text = std::move(text),
        .trouble = full ? "so many passes can't be killed that no other one is started" : "a pass can't be killed",
        .fields = {}});
}

void Supervisor::Reload() {
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch());
  if (ready_) manager_.Notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.count()));
  const Result<LoopSettings> settings = work_.reload();
  if (settings) {
    settings_ = *settings;
    log_.Info("configuration read anew; a pass follows");
    if (loaded_by_systemd_) {
      log_.Info("the kubeconfig is the one that systemd loaded at the start: to take another, restart the service");
    }
  } else {
    log_.Error(settings.error().message + ": the configuration stays as it was");
  }
  next_pass_ = Clock::now();
  reloaded_ = static_cast<bool>(pass_);  // That one has the old configuration.
  // What the passes before said was said of another configuration.
  may_linger_from_ = Clock::now();
  team_space_.clear();
  woken_ = false_alarm_ = false;
  if (heard_.lingers) WakePass();
  if (!ready_) return;
  ready_untold_ = true;
  TellReady();
}

void Supervisor::TellState() const {
  const auto now = Clock::now();
  std::string last = "no pass has ended yet";
  if (last_end_) {
    last = fmt::format("{} in {}, the last one {} ago, of {}", Count(passes_, "pass"),
                       FormatDuration(Span(now - started_)), FormatDuration(Span(now - *last_end_)),
                       FormatDuration(last_took_));
  }
  const std::string next =
      heard_.lingers ? fmt::format("nothing to do for {}", FormatDuration(Span(now - *last_end_)))
      : pass_        ? fmt::format("a pass has been running for {}", FormatDuration(Span(now - pass_started_)))
              : fmt::format("the next one in {}", FormatDuration(std::max(Span(next_pass_ - now), milliseconds(0))));
  // It was asked for, so it is told whatever the level.
  const LogLevel level = log_.shows(LogLevel::kInfo) ? LogLevel::kInfo : log_.level();
  log_.Write({.level = level,
              .is_message = true,
              .text = fmt::format("{}: {}; {}; {} now", last, StatusText(), next, Count(troubles_.size(), "problem")),
              .trouble = {},
              .fields = {}});
}

void Supervisor::BecomeReady() {
  if (ready_) return;
  ready_ = ready_untold_ = true;
  TellReady();
}

/// A service manager that is busy, as at a boot, is told again.
void Supervisor::TellReady() {
  ready_untold_ = !manager_.Notify("READY=1\n" + StatusAssignment(StatusText()));
}

std::string Supervisor::StatusText() const {
  if (left_behind_.size() >= kMostLeftBehind) {
    return fmt::format("{} can't be killed: no other one is started until one of them has ended",
                       Count(left_behind_.size(), "pass"));
  }
  if (unreadable_ == 0) return summary_.empty() ? "the first pass is at work" : summary_;
  const milliseconds pause = ComputePause(settings_.interval, unreadable_);
  return fmt::format("{}; {} so far, trying every {}", last_failure_,
                     Count(static_cast<std::uint64_t>(unreadable_), "failed pass"), FormatDuration(pause));
}

}  // namespace cnpa
