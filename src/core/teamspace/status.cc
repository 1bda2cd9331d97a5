// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/status.h"

#include <utility>

#include "base/text.h"

namespace cnpa {
namespace {

/// Sets `Ready`, keeping the time of the last transition while its status stays.
void SetReady(TeamSpaceStatus& status, const Boxed<Condition>& observed, bool ready, Reason reason,
              const std::string& message, std::int64_t generation, Time now) {
  Condition condition{.type = "Ready",
                      .status = ready ? "True" : "False",
                      .observed_generation = generation,
                      .last_transition_time = {},
                      .reason = std::string(ReasonName(reason)),
                      // The server would keep other bytes than these, and they would be written for ever.
                      .message = Printable(message)};
  const bool stays = observed && observed->status == condition.status && !observed->last_transition_time.empty();
  condition.last_transition_time = stays ? observed->last_transition_time : FormatTime(now);
  status.ready = std::move(condition);
}

std::optional<std::string> Text(const std::optional<std::int64_t>& number) {
  if (!number) return std::nullopt;
  return std::to_string(*number);
}

std::optional<std::string> Text(const Boxed<Condition>& ready) {
  if (!ready) return std::nullopt;
  return ready->status + " (" + ready->reason + ")";
}

}  // namespace

TeamSpaceStatus ReconciledStatus(const TeamSpaceStatus& observed, const std::string& name, std::int64_t generation,
                                 Time now) {
  TeamSpaceStatus status = observed;
  status.observed_generation = generation;
  status.namespace_name = NamespaceNameOf(name);
  SetReady(status, observed.ready, true, Reason::kReconciled,
           "namespace " + NamespaceNameOf(name) + " and its quota are as specified", generation, now);
  return status;
}

TeamSpaceStatus RefusedStatus(const TeamSpaceStatus& observed, const Refusal& refusal, std::int64_t generation,
                              std::optional<std::string> namespace_name, Time now) {
  TeamSpaceStatus status = observed;
  status.namespace_name = std::move(namespace_name);
  if (!status.namespace_name) status.namespace_uid.reset();
  SetReady(status, observed.ready, false, refusal.reason, refusal.message, generation, now);
  return status;
}

std::optional<Change> StatusChange(const TeamSpaceStatus& observed, const TeamSpaceStatus& desired, bool awaits_uid) {
  if (observed == desired && !awaits_uid) return std::nullopt;
  Change change{.effect = WriteStatus{observed, desired, awaits_uid}, .cause = Cause::kBehind, .fields = {}};
  const auto compare = [&](std::string path, std::optional<std::string> from, std::optional<std::string> to) {
    if (from != to) change.fields.push_back({std::move(path), std::move(from), std::move(to), {}, {}});
  };
  compare(std::string(kObservedGenerationPath), Text(observed.observed_generation), Text(desired.observed_generation));
  compare(std::string(kStatusNamespacePath), observed.namespace_name, desired.namespace_name);
  // With another name it goes without saying.
  if (observed.namespace_name == desired.namespace_name) {
    const std::optional<std::string> uid = awaits_uid ? std::optional<std::string>("that of the new namespace")
                                                      : std::optional<std::string>(desired.namespace_uid);
    compare(std::string(kStatusNamespaceUidPath), observed.namespace_uid, uid);
  }
  compare(std::string(kReadyConditionPath), Text(observed.ready), Text(desired.ready));
  // Same status and reason, other words or another generation: still a change, and one that should be seen.
  if (change.fields.empty() && observed.ready && desired.ready) {
    compare(ReadyMemberPath("message"), observed.ready->message, desired.ready->message);
    compare(ReadyMemberPath("observedGeneration"), Text(observed.ready->observed_generation),
            Text(desired.ready->observed_generation));
  }
  return change;
}

Change WithNamespaceUid(Change change, const Boxed<std::string>& created_uid) {
  auto* status = std::get_if<WriteStatus>(&change.effect);
  if (status == nullptr || !status->awaits_uid) return change;
  status->desired.namespace_uid = created_uid;
  status->awaits_uid = false;
  return change;
}

}  // namespace cnpa
