// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/status.h"

#include <string>

#include "support/builders.h"
#include "support/describe.h"

namespace cnpa {
namespace {

const Refusal kConflict{Reason::kNamespaceConflict, "not ours"};

TEST_CASE("ReconciledStatus of an empty status tells generation, namespace and Ready", "[core][status]") {
  const TeamSpaceStatus status = ReconciledStatus({}, "red", 3, kNow);
  CHECK(status.observed_generation == 3);
  CHECK(status.namespace_name == "team-red");
  CHECK(status.ready == Condition{.type = "Ready",
                                  .status = "True",
                                  .observed_generation = 3,
                                  .last_transition_time = kNowText,
                                  .reason = "Reconciled",
                                  .message = "namespace team-red and its quota are as specified"});
}

TEST_CASE("ReconciledStatus of what it wrote before is the same: time alone changes nothing", "[core][status]") {
  const TeamSpaceStatus observed = TeamSpaceNamed("red").status;
  CHECK(ReconciledStatus(observed, "red", 1, kNow) == observed);
}

TEST_CASE("ReconciledStatus moves lastTransitionTime only when Ready turns", "[core][status]") {
  const TeamSpaceStatus observed = TeamSpaceNamed("red").status;
  CHECK(ReconciledStatus(observed, "red", 2, kNow).ready->last_transition_time == kEarlierText);
  const TeamSpaceStatus refused = RefusedStatus(observed, kConflict, 1, std::nullopt, kNow);
  CHECK(refused.ready->last_transition_time == kNowText);
  CHECK(ReconciledStatus(refused, "red", 1, kNow + std::chrono::hours(1)).ready->last_transition_time ==
        "2031-05-06T08:08:09Z");
}

TEST_CASE("ReconciledStatus sets a lastTransitionTime where there was none", "[core][status]") {
  TeamSpaceStatus observed = TeamSpaceNamed("red").status;
  observed.ready->last_transition_time = "";
  CHECK(ReconciledStatus(observed, "red", 1, kNow).ready->last_transition_time == kNowText);
}

TEST_CASE("RefusedStatus never raises observedGeneration", "[core][status]") {
  const TeamSpaceStatus status = RefusedStatus(TeamSpaceNamed("red").status, kConflict, 5, "team-red", kNow);
  CHECK(status.observed_generation == 1);
  CHECK(status.ready == Condition{.type = "Ready",
                                  .status = "False",
                                  .observed_generation = 5,
                                  .last_transition_time = kNowText,
                                  .reason = "NamespaceConflict",
                                  .message = "not ours"});
  CHECK(RefusedStatus({}, kConflict, 5, std::nullopt, kNow).observed_generation == std::nullopt);
}

TEST_CASE("RefusedStatus names the namespace only while it is ours", "[core][status]") {
  const TeamSpaceStatus observed = TeamSpaceNamed("red").status;
  CHECK(RefusedStatus(observed, kConflict, 1, "team-red", kNow).namespace_name == "team-red");
  const TeamSpaceStatus nameless = RefusedStatus(observed, kConflict, 1, std::nullopt, kNow);
  CHECK(nameless.namespace_name == std::nullopt);
  CHECK(nameless.namespace_uid == std::nullopt);
}

TEST_CASE("RefusedStatus keeps lastTransitionTime from one refusal to the next", "[core][status]") {
  TeamSpaceStatus observed = RefusedStatus({}, kConflict, 1, std::nullopt, kNow);
  observed = RefusedStatus(observed, {Reason::kInvalidName, "other"}, 1, std::nullopt, kNow + std::chrono::hours(1));
  CHECK(observed.ready->last_transition_time == kNowText);
  CHECK(observed.ready->reason == "InvalidName");
}

TEST_CASE("StatusChange is nothing for equal statuses", "[core][status]") {
  CHECK(StatusChange({}, {}) == std::nullopt);
  CHECK(StatusChange(TeamSpaceNamed("red").status, TeamSpaceNamed("red").status) == std::nullopt);
}

TEST_CASE("StatusChange says which members differ", "[core][status]") {
  const TeamSpaceStatus observed = TeamSpaceNamed("red").status;
  const auto fields = [&observed](const TeamSpaceStatus& desired) {
    const std::optional<Change> change = StatusChange(observed, desired);
    REQUIRE(change);
    CHECK(change->cause == Cause::kBehind);
    CHECK(change->effect == Effect(WriteStatus{observed, desired}));
    return change->fields;
  };
  using Fields = std::vector<FieldChange>;

  TeamSpaceStatus desired = observed;
  desired.observed_generation = 2;
  CHECK(fields(desired) == Fields{{"status.observedGeneration", "1", "2", std::nullopt}});

  desired = observed;
  desired.namespace_name = std::nullopt;
  CHECK(fields(desired) == Fields{{"status.namespace", "team-red", std::nullopt, std::nullopt}});

  // The uid goes without saying where it goes with the name.
  desired.namespace_uid = std::nullopt;
  CHECK(fields(desired) == Fields{{"status.namespace", "team-red", std::nullopt, std::nullopt}});

  desired = observed;
  desired.namespace_uid = std::string("uid-new");
  CHECK(fields(desired) == Fields{{"status.namespaceUID", "uid-team-red", "uid-new", std::nullopt}});

  desired = RefusedStatus(observed, kConflict, 1, "team-red", kNow);
  CHECK(fields(desired) ==
        Fields{{"status.conditions['Ready']", "True (Reconciled)", "False (NamespaceConflict)", std::nullopt}});

  desired = observed;
  desired.ready->message = "other words";
  CHECK(fields(desired) == Fields{{"status.conditions['Ready'].message",
                                   "namespace team-red and its quota are as specified", "other words", std::nullopt}});

  desired = observed;
  desired.ready->observed_generation = 2;
  CHECK(fields(desired) == Fields{{"status.conditions['Ready'].observedGeneration", "1", "2", std::nullopt}});
}

TEST_CASE("WithNamespaceUid completes a status that awaits the uid of the namespace that its chain creates",
          "[core][status]") {
  const TeamSpaceStatus observed = TeamSpaceNamed("red").status;
  TeamSpaceStatus desired = observed;
  desired.namespace_uid = std::nullopt;
  const std::optional<Change> change = StatusChange(observed, desired, true);
  REQUIRE(change);
  CHECK(change->effect == Effect(WriteStatus{observed, desired, true}));
  CHECK(change->fields ==
        std::vector<FieldChange>{{"status.namespaceUID", "uid-team-red", "that of the new namespace", std::nullopt}});
  desired.namespace_uid = std::string("uid-new");
  CHECK(WithNamespaceUid(*change, std::string("uid-new")).effect == Effect(WriteStatus{observed, desired}));
  // Also where all else is as it should be: the namespace is another one.
  CHECK(StatusChange(observed, observed, true));
  // One that awaits none, and any other change, are as they were.
  const Change plain = *StatusChange(observed, desired);
  CHECK(WithNamespaceUid(plain, std::string("uid-other")) == plain);
  const Change quota{CreateQuota{"team-red", {}}, Cause::kMissing, {}};
  CHECK(WithNamespaceUid(quota, std::string("uid-other")) == quota);
}

TEST_CASE("StatusChange of an empty status has nothing to say on from", "[core][status]") {
  const std::optional<Change> change = StatusChange({}, ReconciledStatus({}, "red", 1, kNow));
  REQUIRE(change);
  CHECK(change->fields ==
        std::vector<FieldChange>{{"status.observedGeneration", std::nullopt, "1", std::nullopt},
                                 {"status.namespace", std::nullopt, "team-red", std::nullopt},
                                 {"status.conditions['Ready']", std::nullopt, "True (Reconciled)", std::nullopt}});
}

TEST_CASE("RefusedStatus holds what the server would keep, whatever the words are made of", "[core][status]") {
  const Refusal refusal{Reason::kArchiveFailed, "cannot write '/f\xfcr\x1b[31m'\n"};
  const TeamSpaceStatus status = RefusedStatus({}, refusal, 1, std::nullopt, kNow);
  CHECK(status.ready->message == "cannot write '/f\uFFFDr [31m' ");
}

}  // namespace
}  // namespace cnpa
