// SPDX-License-Identifier: Apache-2.0
#include "app/stages/apply.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "app/stages/turns.h"
#include "app/stages/written.h"
#include "core/plan/describe.h"
#include "core/plan/failure.h"
#include "core/teamspace/plan.h"
#include "core/teamspace/plan_objects.h"
#include "core/teamspace/status.h"

namespace cnpa {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLockPause{10};
/// No namespace that is deleted is gone any sooner.
///
/// Source:   k8s.io/kubernetes/pkg/controller/namespace, namespaceDeletionGracePeriod: 5 s.
constexpr std::chrono::seconds kEndOfNamespace{4};

/// A namespace that a chain has created.
struct Created {
  std::string uid;
  Clock::time_point at;
};

ChainEnd EndOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kConflict:
    case ErrorCode::kNotFound: return ChainEnd::kLostRace;
    case ErrorCode::kStopped: return ChainEnd::kLeft;
    case ErrorCode::kInvalid:
    case ErrorCode::kDenied:
    case ErrorCode::kTerminating:
    case ErrorCode::kUnreachable:
    case ErrorCode::kUnavailable:
    case ErrorCode::kMalformed:
    case ErrorCode::kUnsupported: break;
  }
  return ChainEnd::kFailed;
}

class Applier {
 public:
  Applier(const Plan& plan, Client& client, Archive& archive, std::size_t concurrency, const OnChain& on_chain,
          const Legacy& legacy)
      : plan_(plan),
        client_(client),
        archive_(archive),
        on_chain_(on_chain),
        legacy_(legacy),
        // Half of the pass: a slow disk keeps neither repairs nor new ones from their turn.
        turns_(plan, concurrency, client.time_left() / 2, legacy.order) {
    report_.chains.resize(plan.chains.size());
    ended_.resize(plan.chains.size(), false);
    for (std::size_t i = 0; i < plan.chains.size(); ++i) report_.chains[i].refusal = plan.chains[i].refusal;
  }

  Report Run() {
    const std::uint64_t before = client_.writes();
    BeginMore();
    client_.RunUntilIdle();
    // Nothing is left but archives whose folder another pass holds.
    while (turns_.waiting()) {
      std::this_thread::sleep_for(kLockPause);
      BeginMore();
      client_.RunUntilIdle();
    }
    report_.writes = client_.writes() - before;
    return std::move(report_);
  }

 private:
  /// To be called whenever a request was answered.
  void BeginMore() {
    turns_.Retry();
    // A chain that needs no request ends within Continue(), so this is a loop and not one step a call.
    while (const std::optional<std::size_t> i = client_.stopping() ? turns_.NextToGiveUp() : turns_.Next()) Begin(*i);
  }

  void Begin(std::size_t i) {
    const Chain& chain = plan_.chains[i];
    if (client_.stopping() || !chain.confirm) return Continue(i);
    client_.Get(ConfirmationPath(chain), [this, i](Result<std::string> body) { OnConfirmation(i, std::move(body)); });
  }

  /// Makes the next change of chain `i`, and those behind it as long as they need no answer from the server.
  void Continue(std::size_t i) {
    const Chain& chain = plan_.chains[i];
    ChainReport& report = report_.chains[i];
    while (report.done < chain.changes.size()) {
      if (client_.stopping()) return End(i, ChainEnd::kLeft);
      const Change& change = chain.changes[report.done];
      if (ActionOf(change) != Action::kArchive) {
        client_.Write(EncodeChange(chain, Sent(i)),
                      [this, i](Result<std::string> object) { OnWritten(i, std::move(object)); });
        return;
      }
      const Result<Archived> archived = WriteToArchive(ArchiveOf(change));
      if (!archived) return OnFailure(i, archived.error());
      if (*archived == Archived::kBusy) return turns_.PutBack(i);
      report.archive_was_there = *archived == Archived::kThere;
      ++report.done;
    }
    End(i, ChainEnd::kComplete);
  }

  Result<Archived> WriteToArchive(const WriteArchive& record) {
    const Clock::time_point before = Clock::now();
    Result<Archived> archived = archive_.Write(record);
    turns_.NoteArchive(std::chrono::duration_cast<milliseconds>(Clock::now() - before));
    return archived;
  }

  void OnConfirmation(std::size_t i, Result<std::string> body) {
    const Status confirmed =
        body ? DecodeConfirmation(*std::move(body), plan_.chains[i]) : tl::unexpected<Error>(std::move(body).error());
    confirmed ? Continue(i) : OnUnreadable(i, confirmed.error());
    BeginMore();
  }

  /// No write was refused: whatever this answer was, it is not the team's to fix.
  void OnUnreadable(std::size_t i, Error error) {
    if (error.code == ErrorCode::kInvalid || error.code == ErrorCode::kMalformed) error.code = ErrorCode::kUnavailable;
    OnFailure(i, std::move(error));
  }

  void OnWritten(std::size_t i, Result<std::string> object) {
    if (object && ActionOf(Current(i)) == Action::kCreate && !CurrentObject(i).namespace_name.empty() &&
        !IsBrandNew(i)) {
      LookWhereItIs(i, *std::move(object));
    } else {
      Judge(i, std::move(object));
    }
    BeginMore();
  }

  /// Goes on with chain `i` if the server has kept what was sent.
  void Judge(std::size_t i, Result<std::string> object) {
    if (object && CreatesNamespace(i)) NoteCreated(i, *object);
    Written written = HoldAgainst(plan_.chains[i], Sent(i), std::move(object));
    if (written.status || IsGoneAlready(i, written.status.error())) {
      ++report_.chains[i].done;
      return Continue(i);
    }
    report_.chains[i].altered = std::move(written.altered);
    OnFailure(i, std::move(written.status).error());
  }

  /// A quota is created by the name of its namespace alone. While that was on its way (in the server's queue, or
  /// waiting out a Retry-After) the namespace may have been deleted, and one of that name created by somebody else.
  void LookWhereItIs(std::size_t i, std::string quota) {
    client_.Get(NamespaceLookupPath(plan_.chains[i]),
                [this, i, quota = std::move(quota)](Result<std::string> body) mutable {
                  const Result<std::optional<Namespace>> space =
                      body ? DecodeFoundNamespace(*std::move(body)) : tl::unexpected<Error>(std::move(body).error());
                  if (!space) {
                    OnUnreadable(i, space.error());
                  } else if (!*space) {
                    OnFailure(i, {ErrorCode::kConflict, "the namespace has gone since, and the quota with it"});
                  } else if (IsOurs(plan_.chains[i], **space)) {
                    Judge(i, std::move(quota));
                  } else {
                    TakeBack(i, std::move(quota));
                  }
                  BeginMore();
                });
  }

  /// Deletes the quota that was just created in somebody else's namespace.
  void TakeBack(std::size_t i, std::string quota) {
    const Chain& chain = plan_.chains[i];
    const std::string space = NamespaceNameOf(chain.name);
    const Result<std::string> uid = DecodeUid(std::move(quota));
    if (!uid) return OnUnreadable(i, uid.error());
    client_.Write(EncodeChange(chain, {DeleteQuota{space, *uid}, Cause::kDiffers, {}}),
                  [this, i, space](const Result<std::string>& deleted) {
                    const std::string words = "namespace " + space + " is somebody else's since a moment ago";
                    const bool gone = deleted || deleted.error().code == ErrorCode::kNotFound ||
                                      deleted.error().code == ErrorCode::kConflict;
                    OnFailure(i, gone ? Error{ErrorCode::kConflict, words + ": its new quota is deleted again"}
                                      : Annotate(deleted.error(), words + ", and still has a quota of ours").value());
                    BeginMore();
                  });
  }

  void NoteCreated(std::size_t i, std::string space) {
    if (const Result<std::string> uid = DecodeUid(std::move(space))) created_[i] = {*uid, Clock::now()};
  }

  Boxed<std::string> UidOfCreated(std::size_t i) const {
    const auto found = created_.find(i);
    return found == created_.end() ? Boxed<std::string>() : Boxed<std::string>(found->second.uid);
  }

  /// Returns whether the namespace of chain `i` was created so shortly before that it can't be another one by now.
  bool IsBrandNew(std::size_t i) const {
    const auto found = created_.find(i);
    return found != created_.end() && Clock::now() - found->second.at < kEndOfNamespace;
  }

  /// The change of chain `i` that is being made.
  const Change& Current(std::size_t i) const { return plan_.chains[i].changes[report_.chains[i].done]; }

  ObjectRef CurrentObject(std::size_t i) const { return ObjectOf(plan_.chains[i], Current(i)); }

  bool CreatesNamespace(std::size_t i) const {
    return ActionOf(Current(i)) == Action::kCreate && CurrentObject(i).kind == "Namespace";
  }

  /// The same, with what is known of it since the plan was made.
  Change Sent(std::size_t i) const { return WithNamespaceUid(Current(i), UidOfCreated(i)); }

  /// What was to be deleted is not there: that is as good.
  bool IsGoneAlready(std::size_t i, const Error& error) const {
    return error.code == ErrorCode::kNotFound && ActionOf(Current(i)) == Action::kDelete;
  }

  void OnFailure(std::size_t i, Error error) {
    const Chain& chain = plan_.chains[i];
    ChainReport& report = report_.chains[i];
    const Change& failed = chain.changes[report.done];
    // The server looks namespaces up in a cache that may still have the one of that name that has ended.
    if (error.code == ErrorCode::kTerminating && NamespaceCreated(chain, report.done))
      error.code = ErrorCode::kConflict;
    ChainEnd end = EndOf(error);
    std::optional<Refusal> refusal = ClassifyFailure(chain, failed, error);
    if (end == ChainEnd::kLostRace && legacy_.setbacks != nullptr) {
      refusal = ClassifyLostRace(legacy_.setbacks->Find(chain.uid), error);
      if (refusal) end = ChainEnd::kFailed;
    }
    report.error = std::move(error);
    if (!refusal) return End(i, end);
    report.refusal = refusal;
    // A namespace that was altered on its way in was created all the same.
    const bool created = !report.altered.empty() && CreatesNamespace(i);
    const std::optional<Change> status =
        ComputeRefusedStatus(chain, report.done + (created ? 1 : 0), *refusal, plan_.computed_at, UidOfCreated(i));
    if (!status || client_.stopping()) return End(i, end);
    client_.Write(EncodeChange(chain, *status), [this, i, end, status = *status](Result<std::string> answer) {
      report_.chains[i].told = HoldAgainst(plan_.chains[i], status, std::move(answer)).status.has_value();
      // If this fails too, the next pass tries again; the failure that counts is the first one.
      End(i, end);
      BeginMore();
    });
  }

  void End(std::size_t i, ChainEnd end) {
    report_.chains[i].end = end;
    ended_[i] = true;
    turns_.Ended(i);
    created_.erase(i);
    for (; told_ < ended_.size() && ended_[told_]; ++told_) on_chain_(plan_.chains[told_], report_.chains[told_]);
  }

  const Plan& plan_;
  Client& client_;
  Archive& archive_;
  const OnChain& on_chain_;
  const Legacy& legacy_;
  Turns turns_;
  Report report_;
  std::vector<bool> ended_;
  std::map<std::size_t, Created> created_;  ///< The namespaces of chains at work that they have created.
  std::size_t told_ = 0;                    ///< How many were told to `on_chain_`.
};

}  // namespace

Report Apply(const Plan& plan, Client& client, Archive& archive, std::size_t concurrency, const OnChain& on_chain,
             const Legacy& legacy) {
  return Applier(plan, client, archive, concurrency, on_chain, legacy).Run();
}

}  // namespace cnpa
