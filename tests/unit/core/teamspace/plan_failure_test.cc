// SPDX-License-Identifier: Apache-2.0
//
// What the failure of a change means for a team, and how its status tells it.
#include <string>
#include <vector>

#include "core/plan/change.h"
#include "core/plan/failure.h"
#include "core/teamspace/plan.h"
#include "core/teamspace/status.h"
#include "support/builders.h"
#include "support/describe.h"

namespace cnpa {
namespace {

const Change kCreateNamespace{CreateNamespace{"team-red", OwnerOf("red")}, Cause::kMissing, {}};
const Change kCreateQuota{CreateQuota{"team-red", {}}, Cause::kMissing, {}};
const Change kRepairQuota{RepairQuota{}, Cause::kDiffers, {}};
const Change kDeleteQuota{DeleteQuota{}, Cause::kScoped, {}};
const Change kAddFinalizer{AddFinalizer{}, Cause::kMissing, {}};
const Change kRepairNamespace{RepairNamespace{}, Cause::kDiffers, {}};
const Change kWriteStatus{WriteStatus{}, Cause::kBehind, {}};
const Change kWriteArchive{WriteArchive{}, Cause::kBeingDeleted, {}};
const Change kRemoveFinalizer{RemoveFinalizer{}, Cause::kBeingDeleted, {}};

Chain RedChain() {
  Chain chain;
  chain.name = "red";
  return chain;
}

TEST_CASE("ClassifyFailure tells lasting failures as a state of the team space", "[core][plan_failure]") {
  const Refusal quota{Reason::kQuotaRefused,
                      "the server refuses the quota; change the spec, or ask a cluster admin: why"};
  const Refusal write{Reason::kWriteFailed, "the server refuses a write; a cluster admin can tell why: why"};
  const Refusal archive{Reason::kArchiveFailed, "the TeamSpace stays until its archive can be written: why"};
  const Refusal forbidden{Reason::kForbidden, "cnpa-op is missing a permission that a cluster admin can grant: why"};
  // In the words of a plan that sees it, so that the status is not written twice.
  const Refusal terminating{Reason::kNamespaceTerminating,
                            "namespace team-red is being deleted; it is re-created once it is gone"};
  struct Case {
    std::string name;
    Change failed;
    ErrorCode code;
    std::optional<Refusal> want;
  };
  const std::vector<Case> cases{
      {"a quota that the server refuses to create", kCreateQuota, ErrorCode::kInvalid, quota},
      {"a quota that it refuses to change", kRepairQuota, ErrorCode::kInvalid, quota},
      {"a quota that it refuses to delete", kDeleteQuota, ErrorCode::kInvalid, quota},
      {"a refused namespace", kCreateNamespace, ErrorCode::kInvalid, write},
      {"a refused repair of a namespace", kRepairNamespace, ErrorCode::kInvalid, write},
      {"a refused finalizer", kAddFinalizer, ErrorCode::kInvalid, write},
      {"a refused status", kWriteStatus, ErrorCode::kInvalid, write},
      {"a finalizer that does not come off", kRemoveFinalizer, ErrorCode::kInvalid, write},
      {"an archive that can't be written", kWriteArchive, ErrorCode::kInvalid, archive},
      {"a quota whose request is not understood", kCreateQuota, ErrorCode::kMalformed, write},
      {"a server that was not reached", kCreateQuota, ErrorCode::kUnreachable, std::nullopt},
      {"a missing right", kCreateNamespace, ErrorCode::kDenied, forbidden},
      {"a missing right on quotas", kCreateQuota, ErrorCode::kDenied, forbidden},
      {"a namespace that goes", kCreateQuota, ErrorCode::kTerminating, terminating},
      {"a namespace that is going", kCreateNamespace, ErrorCode::kTerminating, terminating},
      {"a lost race", kRepairQuota, ErrorCode::kConflict, std::nullopt},
      {"something that is gone", kRepairQuota, ErrorCode::kNotFound, std::nullopt},
      {"a server that is away", kCreateQuota, ErrorCode::kUnavailable, std::nullopt},
      {"a pass that was told to end", kCreateQuota, ErrorCode::kStopped, std::nullopt},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ClassifyFailure(RedChain(), c.failed, {c.code, "why"}) == c.want);
    }
  }
}

TEST_CASE("ClassifyFailure tells refused credentials from a missing right", "[core][plan_failure]") {
  CHECK(
      ClassifyFailure(RedChain(), kCreateQuota, {ErrorCode::kDenied, "unauthorized: why"}) ==
      Refusal{Reason::kForbidden,
              "the server no longer accepts cnpa-op's credentials; a cluster admin can renew them: unauthorized: why"});
}

TEST_CASE("ClassifyFailure shortens a message that nobody would read, not inside a character", "[core][plan_failure]") {
  const auto message = [](const std::string& text) {
    return ClassifyFailure(RedChain(), kCreateQuota, {ErrorCode::kInvalid, text}).value().message;
  };
  const std::string front = message("");
  const std::size_t room = 1024 - front.size();
  CHECK(message(std::string(room, 'a')) == front + std::string(room, 'a'));
  CHECK(message(std::string(room + 1, 'a')) == front + std::string(room, 'a') + " ...");
  CHECK(message(std::string(room - 1, 'a') + "\xc3\xa4") == front + std::string(room - 1, 'a') + " ...");
  CHECK(message(std::string(room - 2, 'a') + "\xe2\x82\xac") == front + std::string(room - 2, 'a') + " ...");
  CHECK(message(std::string(room - 2, 'a') + "\xc3\xa4" + "b") == front + std::string(room - 2, 'a') + "\xc3\xa4 ...");
}

Chain ChainFor(const TeamSpace& team_space, std::vector<Change> changes) {
  return {.name = team_space.name,
          .uid = team_space.uid,
          .generation = team_space.generation,
          .deleting = team_space.deleting(),
          .changes = std::move(changes),
          .observed_status = team_space.status};
}

const Refusal kRefusal{Reason::kQuotaRefused, "the server says no"};

TEST_CASE("ComputeRefusedStatus tells the failure and leaves observedGeneration where it was", "[core][plan_failure]") {
  TeamSpace red = TeamSpaceNamed("red");
  red.generation = 2;
  Chain chain = ChainFor(red, {kRepairQuota, kWriteStatus});
  chain.namespace_name = "team-red";
  chain.namespace_uid = std::string("uid-team-red");
  chain.crd.has_namespace_uid = true;
  CHECK(ComputeRefusedStatus(chain, 0, kRefusal, kNow) ==
        StatusChange(red.status, RefusedStatus(red.status, kRefusal, 2, "team-red", kNow)));
}

TEST_CASE("ComputeRefusedStatus names a namespace that this chain has made", "[core][plan_failure]") {
  const TeamSpace red = NewTeamSpaceNamed("red");
  const Chain chain = ChainFor(red, {kAddFinalizer, kCreateNamespace, kCreateQuota, kWriteStatus});
  const auto namespace_name = [&chain](std::size_t failed) {
    const std::optional<Change> change = ComputeRefusedStatus(chain, failed, kRefusal, kNow);
    return std::get<WriteStatus>(change.value().effect).desired.namespace_name;
  };
  CHECK(namespace_name(0) == std::nullopt);
  CHECK(namespace_name(1) == std::nullopt);  // It failed itself.
  CHECK(namespace_name(2) == "team-red");
}

TEST_CASE("ComputeRefusedStatus keeps the uid of the namespace where its CRD has a place for it",
          "[core][plan_failure]") {
  TeamSpace red = TeamSpaceNamed("red");
  const Change quota{CreateQuota{}, Cause::kMissing, {}};
  const auto uid_of = [](const Chain& chain, std::size_t failed, std::optional<std::string> created) {
    return std::optional<std::string>(
        std::get<WriteStatus>(ComputeRefusedStatus(chain, failed, kRefusal, kNow, std::move(created))->effect)
            .desired.namespace_uid);
  };
  Chain chain = ChainFor(red, {quota});
  chain.namespace_name = "team-red";
  chain.namespace_uid = std::string("uid-team-red");
  chain.crd.has_namespace_uid = true;
  CHECK(uid_of(chain, 0, std::nullopt) == "uid-team-red");
  chain.crd.has_namespace_uid = false;
  CHECK(uid_of(chain, 0, std::nullopt) == std::nullopt);
  Chain creating = ChainFor(red, {{CreateNamespace{"team-red", {}}, Cause::kMissing, {}}, quota});
  creating.crd.has_namespace_uid = true;
  CHECK(uid_of(creating, 1, "uid-new") == "uid-new");
  CHECK(uid_of(creating, 0, std::nullopt) == std::nullopt);
}

TEST_CASE("ComputeRefusedStatus is nothing where the status tells it already", "[core][plan_failure]") {
  TeamSpace red = TeamSpaceNamed("red");
  red.status = RefusedStatus(red.status, kRefusal, 1, std::nullopt, kNow);
  const Chain chain = ChainFor(red, {kCreateNamespace});
  CHECK(ComputeRefusedStatus(chain, 0, kRefusal, kNow + std::chrono::hours(1)) == std::nullopt);
}

TEST_CASE("ComputeRefusedStatus of a deleting team space says ArchiveFailed and nothing else", "[core][plan_failure]") {
  const TeamSpace red = DeletedTeamSpaceNamed("red");
  const Chain chain = ChainFor(red, {kWriteArchive, kRemoveFinalizer});
  const Refusal archive_failed{Reason::kArchiveFailed, "disk full"};
  const std::optional<Change> change = ComputeRefusedStatus(chain, 0, archive_failed, kNow);
  REQUIRE(change);
  const TeamSpaceStatus& desired = std::get<WriteStatus>(change->effect).desired;
  CHECK(desired.observed_generation == red.status.observed_generation);
  CHECK(desired.namespace_name == "team-red");
  CHECK(desired.ready->reason == "ArchiveFailed");
  CHECK(ComputeRefusedStatus(chain, 1, {Reason::kWriteFailed, "no"}, kNow) == std::nullopt);
  CHECK(ComputeRefusedStatus(chain, 1, {Reason::kForbidden, "no"}, kNow) == std::nullopt);
}

TEST_CASE("ComputeRefusedStatus is nothing where there is no place to say it", "[core][plan_failure]") {
  Chain chain = ChainFor(TeamSpaceNamed("red"), {kRepairQuota, kWriteStatus});
  SECTION("a status write that failed can't be told by a status write") {
    CHECK(ComputeRefusedStatus(chain, 1, kRefusal, kNow) == std::nullopt);
  }
  SECTION("the CRD has no status subresource") {
    chain.crd.has_status = false;
    CHECK(ComputeRefusedStatus(chain, 0, kRefusal, kNow) == std::nullopt);
  }
  SECTION("the CRD has no conditions") {
    chain.crd.has_conditions = false;
    CHECK(ComputeRefusedStatus(chain, 0, kRefusal, kNow) == std::nullopt);
  }
}

TEST_CASE("AlterationError says which field, what was sent and what is kept", "[core][failure]") {
  CHECK(AlterationError({"ResourceQuota", "team-red", "team-quota"},
                        {{.path = "spec.hard.pods", .from = "2", .to = "7"}, {.path = "spec.scopes", .from = "x"}}) ==
        Error{ErrorCode::kInvalid,
              "ResourceQuota/team-red/team-quota: spec.hard.pods was sent as '7' and kept as '2', spec.scopes was sent "
              "as nothing and kept as 'x': an admission policy or webhook changes it"});
}

}  // namespace
}  // namespace cnpa
