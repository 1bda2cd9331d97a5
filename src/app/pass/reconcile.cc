// SPDX-License-Identifier: Apache-2.0
#include "app/pass/reconcile.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/output/output.h"
#include "app/pass/complaints.h"
#include "app/pass/contests.h"
#include "app/pass/declared_objects.h"
#include "app/pass/event_sender.h"
#include "app/pass/events.h"
#include "app/pass/memory.h"
#include "app/pass/only.h"
#include "app/pass/stop.h"
#include "app/render/plan_view.h"
#include "app/render/render.h"
#include "app/stages/apply.h"
#include "app/stages/observe.h"
#include "app/stages/rehearse.h"
#include "core/permissions/unauthorized.h"
#include "core/plan/change.h"
#include "core/plan/describe.h"
#include "core/teamspace/plan.h"
#include "kube/api/client.h"

namespace cnpa {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPassesAfterLostRaces = 3;
constexpr std::chrono::milliseconds kServedPause{50};

bool WritesStatusWithoutConditions(const Plan& plan) {
  return std::any_of(plan.chains.begin(), plan.chains.end(),
                     [](const Chain& chain) { return !chain.crd.has_conditions && Has(chain, Action::kWriteStatus); });
}

class Run {
 public:
  Run(Transport& transport, const ReconcileContext& context)
      : context_(context),
        memory_(context.runtime_folder, context.log),
        contests_(memory_),
        client_(transport, context.options.request_timeout,
                {.on_warning = [&context](const std::string& text) { context.log.Warn("the server warns: " + text); },
                 .random = {}},
                // Whatever a --diff might send, now or once this program has grown: nothing of it is kept.
                context.options.diff ? WriteMode::kDryRun : WriteMode::kReal),
        declared_(client_, context.options, context.log, context.now) {}

  PassOutcome Diff() {
    const Result<Plan> declared = declared_.Compute();
    if (!declared) return Fail(declared.error());
    Result<Plan> plan = Compute();
    // Without the CRD there are no TeamSpaces to look at.
    if (!plan && plan.error().code == ErrorCode::kNotFound && Creates(*declared)) {
      plan = *declared;
    } else if (plan) {
      plan->chains.insert(plan->chains.begin(), declared->chains.begin(), declared->chains.end());
    }
    if (!plan) return Fail(plan.error());
    std::optional<Verdicts> verdicts;
    if (context_.options.server) {
      verdicts = Rehearse(*plan, client_, context_.archive, static_cast<std::size_t>(context_.options.concurrency));
    }
    PrintPlan(*plan, verdicts ? &*verdicts : nullptr);
    return {.code = plan->chains.empty() ? ExitCode::kConverged : ExitCode::kUnconverged};
  }

  /// Returns what was done until now.
  PassNumbers Numbers() {
    numbers_.SetRequests(client_.requests());
    numbers_.contested = {contests_.repairs()};
    if (partial_) numbers_.read = false;  // It says nothing of the others.
    return numbers_;
  }

  PassOutcome Once() {
    const auto started = Clock::now();
    Totals totals;
    Complaints complaints;
    if (context_.team_space.empty()) {
      if (const Status kept = KeepDeclared(totals); !kept) return Fail(kept.error());
    }
    for (int pass = 1;; ++pass) {
      Result<Plan> plan = Compute();
      if (!plan) {
        if (pass == 1) {
          TellDeclared(complaints);  // It may be the reason.
          return Fail(plan.error());
        }
        // What the rounds before have written is told all the same.
        context_.log.Warn("after a lost race: " + context_.explain(plan.error()).message);
        break;
      }
      if (pass == 1) context_.on_observed();
      complaints = {};
      const std::vector<std::string> held = HoldBack(memory_.setbacks(plan->computed_at), *plan);
      const Report report = ApplyPlan(*plan, totals, complaints);
      if (!report.lost_race() || pass == kPassesAfterLostRaces || client_.stopping()) {
        memory_.Note(*plan, report,
                     {.held = held, .others = declared_.uids(), .of_all = !partial_ && context_.options.only.empty()});
        break;
      }
      context_.log.Debug("another writer was faster somewhere: one more pass");
    }
    PassOutcome outcome = End(totals, complaints, started);
    if (MayLinger(totals)) outcome.wake = LingerBehind(outcome);
    return outcome;
  }

 private:
  /// What is known when there is nothing to do: what happens from then on changes it.
  struct Quiet {
    Observation observation;
    ListVersions versions;
    bool knows_crd = false;  ///< It was read, and allows what the observation has of it.
  };

  PassOutcome End(const Totals& totals, Complaints& complaints, Clock::time_point started) {
    const Renderer renderer(context_.now(), context_.stderr_form, context_.options.archive);
    for (LogEntry& line : contests_.Lines(renderer)) complaints.Add(std::move(line));
    declared_.AddTo(complaints, renderer);
    memory_.Save(context_.now());
    for (const auto& [name, words] : missing_) complaints.Add(MissingEntry(name, words));
    if (context_.in_loop) {
      complaints.TellEach(context_.log);
    } else {
      complaints.TellAlike(context_.log, renderer);
    }
    if (const std::string missing = context_.archive.DescribeMissing(); !missing.empty()) context_.log.Warn(missing);
    if (client_.exhausted()) {
      context_.log.Warn("the server fails too often: nothing more was begun, the rest is left for the next pass");
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started);
    if (context_.document != nullptr) context_.document->SetTotals(totals, took);
    if (totals.changed_something() || (!context_.in_loop && (totals.writes > 0 || !totals.converged()))) {
      TellLine(TotalsLine(totals, took), {});
    }
    // Last, so that nothing waits for them.
    SendEvents();
    return {.code = totals.converged() ? ExitCode::kConverged : ExitCode::kUnconverged,
            .totals = totals,
            .partial = partial_};
  }

  /// Brings what is declared to what it should be, before anything is listed: without the CRD there is no list of
  /// TeamSpaces.
  Status KeepDeclared(Totals& totals) {
    const Renderer renderer(context_.now(), context_.stderr_form, context_.options.archive);
    Status kept = declared_.Keep(memory_, context_.archive, [&](const Chain& set, const ChainReport& done) {
      TellChanges(set, done, renderer);
      numbers_.AddWrites(set, done);
    });
    if (kept) declared_.AddTo(totals);
    return kept;
  }

  void TellDeclared(Complaints& complaints) const {
    declared_.AddTo(complaints, Renderer(context_.now(), context_.stderr_form, context_.options.archive));
    complaints.TellEach(context_.log);
  }

  Result<Plan> Compute() {
    quiet_.reset();
    ListVersions versions;
    Result<Observation> observed = LookOnceServed(versions);
    if (!observed) return tl::unexpected<Error>(observed.error());
    if (!partial_) missing_ = FindMissing(*observed, context_.options.only);
    // In the loop a team space may go, and another be still to come, without keeping the others from their turn.
    if (!missing_.empty() && !context_.in_loop) {
      return cnpa::Fail(ErrorCode::kNotFound, missing_.begin()->second);
    }
    Plan plan = PlanFor(*observed);
    const Result<bool> read = ReadCrdFor(client_, plan, *observed);
    if (!read) return tl::unexpected<Error>(read.error());
    if (*read) plan = PlanFor(*observed);
    // The CRD is not watched: one that goes is looked at by each pass.
    if (plan.empty() && !partial_ && context_.options.linger.count() > 0 && !observed->crd.deleting) {
      const bool knows_crd = MustReadCrd(*observed);
      observed->crd.has_namespace_uid = observed->crd.has_namespace_uid || ShowsNamespaceUid(*observed);
      quiet_ = Quiet{*std::move(observed), std::move(versions), knows_crd};
    }
    return plan;
  }

  /// The same as Look(); a CRD that was just created is served a moment later.
  Result<Observation> LookOnceServed(ListVersions& versions) {
    const auto until = Clock::now() + context_.options.request_timeout;
    Result<Observation> observed = Look(versions);
    while (!observed && observed.error().code == ErrorCode::kNotFound && declared_.created() && Clock::now() < until &&
           !client_.stopping()) {
      std::this_thread::sleep_for(kServedPause);
      observed = Look(versions);
    }
    return observed;
  }

  Result<Observation> Look(ListVersions& versions) {
    if (!context_.team_space.empty()) {
      CloseSights sights;
      Result<Observation> one = ObserveOne(client_, context_.now(), context_.team_space, sights);
      partial_ = !one || !one->team_spaces.empty();
      if (partial_) return one;
    }
    return Observe(client_, context_.now(), nullptr, &versions);
  }

  Plan PlanFor(const Observation& observation) const {
    Plan plan = ComputePlan(observation, {.allow_crd_deletion = context_.options.allow_crd_deletion});
    if (!partial_) RestrictTo(context_.options.only, missing_.size(), plan);
    return plan;
  }

  bool MayLinger(const Totals& totals) const {
    return quiet_ && totals.writes == 0 && totals.failed + totals.left + totals.objects_off == 0 && !client_.stopping();
  }

  Wake LingerBehind(PassOutcome outcome) {
    outcome.numbers = Numbers();
    context_.on_linger(outcome);
    const auto has_work = [this](const Observation& excerpt) {
      return !PlanFor(excerpt).empty() || (MustReadCrd(excerpt) && !quiet_->knows_crd);
    };
    Wake wake = Linger(client_, std::move(quiet_->observation), quiet_->versions,
                       {.most = context_.options.linger, .has_work = has_work, .now = context_.now});
    if (wake.cause == WakeCause::kForbidden && !context_.in_loop) {
      context_.log.Warn("--linger needs permission to watch: " + wake.words);
    } else {
      context_.log.Debug("awake: " + wake.words);
    }
    return wake;
  }

  /// Performs a plan, telling each change once it is made.
  Report ApplyPlan(const Plan& plan, Totals& totals, Complaints& complaints) {
    const Renderer renderer(plan.computed_at, context_.stderr_form, context_.options.archive);
    if (WritesStatusWithoutConditions(plan)) {
      context_.log.Warn(
          "the TeamSpace CRD has no status.conditions, so nobody can be told why a team space is not "
          "ready: cnpa-op crd | kubectl apply -f -");
    }
    const OnChain tell = [&](const Chain& as_planned, const ChainReport& done) {
      const std::optional<Chain> contested = TellChanges(as_planned, done, renderer);
      const Chain& chain = contested ? *contested : as_planned;
      complaints.Add(chain, done, renderer, context_.in_loop && memory_.lasts());
      for (Event& event : EventsOf(chain, done)) events_.push_back(std::move(event));
    };
    const auto concurrency = static_cast<std::size_t>(context_.options.concurrency);
    Report report = Apply(plan, client_, context_.archive, concurrency, tell, LegacyFor(plan, concurrency));
    if (context_.document != nullptr) context_.document->SetProblems(plan, report);
    totals.Add(plan, report);
    numbers_.Add(plan, report);
    return report;
  }

  /// Tells the changes that were made. Returns the chain with those marked that are contested; nothing where none is.
  std::optional<Chain> TellChanges(const Chain& as_planned, const ChainReport& done, const Renderer& renderer) {
    std::optional<Chain> contested = contests_.Note(as_planned, done.done, context_.now());
    const Chain& chain = contested ? *contested : as_planned;
    for (std::size_t i = 0; i < done.done; ++i) {
      if (!done.Made(chain, i)) continue;
      TellLine(renderer.ChangeLine(chain, chain.changes[i]), renderer.ChangeFields(chain, chain.changes[i]));
    }
    if (done.end == ChainEnd::kLostRace) context_.log.Debug("lost race: " + done.error.message);
    if (context_.document != nullptr) context_.document->AddChanges(chain, done);
    return contested;
  }

  Legacy LegacyFor(const Plan& plan, std::size_t concurrency) {
    if (memory_.lasts()) {
      const SetbackRecord& setbacks = memory_.setbacks(plan.computed_at);
      return {.order = ComputeBeginOrder(plan, setbacks), .setbacks = &setbacks};
    }
    // Where all can begin at once there is no first one.
    if (plan.chains.size() <= concurrency) return {};
    return {.order = ComputeRotatedOrder(plan), .setbacks = nullptr};
  }

  void SendEvents() {
    if (context_.options.no_events) return;
    EventSender{.client = client_,
                .log = context_.log,
                .concurrency = static_cast<std::size_t>(context_.options.concurrency),
                .instance = context_.instance}
        .Send(events_, context_.now());
  }

  static LogEntry MissingEntry(const std::string& name, const std::string& words) {
    // What was perhaps meant changes with the other team spaces, and is no other problem.
    return {.level = LogLevel::kWarn,
            .is_message = true,
            .text = words,
            .trouble = "--only: there is no TeamSpace '" + name + "'",
            .fields = {}};
  }

  void TellLine(std::string line, LogFields fields) const {
    context_.log.Write({.level = LogLevel::kInfo, .text = std::move(line), .trouble = {}, .fields = std::move(fields)});
  }

  PassOutcome Fail(const Error& error) const {
    const std::string message = context_.explain(error).message;
    // To be told to end is no error; in the loop whoever did so is told by the loop's own end.
    const bool told_to_end = error.code == ErrorCode::kStopped && StopSignals::received() != 0;
    const LogLevel level = !told_to_end ? LogLevel::kError : context_.in_loop ? LogLevel::kDebug : LogLevel::kInfo;
    context_.log.Write({.level = level, .is_message = true, .text = message, .trouble = {}, .fields = {}});
    if (context_.document != nullptr) context_.document->SetError(message);
    const bool unknown_name = error.code == ErrorCode::kNotFound && error.message.starts_with("--only");
    return {.code = unknown_name ? ExitCode::kUnconverged : ExitCode::kUnreadable,
            .unauthorized = IsUnauthorized(error)};
  }

  void PrintPlan(const Plan& plan, const Verdicts* verdicts) const {
    if (context_.document != nullptr) return context_.document->AddPlan(plan, verdicts);
    const Renderer renderer(plan.computed_at, context_.stdout_form, context_.options.archive);
    for (const std::string& line : PlanLines(plan, verdicts, renderer, context_.stdout_form)) PrintLine(line);
  }

  const ReconcileContext& context_;
  Memory memory_;
  Contests contests_;
  Client client_;
  DeclaredObjects declared_;
  PassNumbers numbers_;
  std::vector<Event> events_;
  std::optional<Quiet> quiet_;
  std::map<std::string, std::string> missing_;  ///< Of --only: there is no such team space; with the words on it.
  bool partial_ = false;                        ///< One team space alone is looked at.
};

}  // namespace

PassOutcome Reconcile(Transport& transport, const ReconcileContext& context) {
  Run run(transport, context);
  PassOutcome outcome = context.options.diff ? run.Diff() : run.Once();
  outcome.numbers = run.Numbers();
  return outcome;
}

}  // namespace cnpa
