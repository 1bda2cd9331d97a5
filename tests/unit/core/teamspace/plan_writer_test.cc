// SPDX-License-Identifier: Apache-2.0
//
// Who a plan says has changed a field, and what it says of fields that are gone.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/change.h"
#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/describe.h"

namespace cnpa {
namespace {

const Writer kSomebody{"kubectl-edit", "Update", "", kNow};
const Writer kOfStatus{"other", "Update", "status", kNow};
const WriteTrace kOursAlone{kNow - std::chrono::seconds(60), {}};
const WriteTrace kOursFirst{kNow - std::chrono::seconds(60), {kSomebody}};
const WriteTrace kOthersAlone{std::nullopt, {kSomebody}};

/// A field and what is told of it.
struct Told {
  std::string path;
  std::optional<Writer> writer;
  std::optional<Absence> absence;
  bool operator==(const Told&) const = default;
};

std::vector<Told> ToldOf(const Observation& cluster) {
  std::vector<Told> told;
  for (const Change& change : ChainOf(ComputePlan(cluster), "red").changes) {
    for (const FieldChange& field : change.fields) told.push_back({field.path, field.writer, field.absence});
  }
  return told;
}

struct Case {
  std::string name;
  std::function<void(Observation&)> drift;
  std::vector<Told> want;
};

void CheckAll(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Observation cluster = ConvergedCluster({"red"});
      c.drift(cluster);
      CHECK(ToldOf(cluster) == c.want);
    }
  }
}

TEST_CASE("ComputePlan tells of a namespace who set its label and its owner, and what is known of what is gone",
          "[core][plan]") {
  const std::string owners(kOwnersPath);
  const auto remove_label = [](WriteTrace trace) {
    return [trace = std::move(trace)](Observation& cluster) {
      cluster.namespaces[0].team_space_label.reset();
      cluster.namespaces[0].trace = trace;
    };
  };
  const auto remove_owner = [](WriteTrace trace, bool reconciled = true) {
    return [trace = std::move(trace), reconciled](Observation& cluster) {
      cluster.namespaces[0].owners.clear();
      cluster.namespaces[0].trace = trace;
      if (reconciled) return;
      cluster.team_spaces[0] = NewTeamSpaceNamed("red");
      cluster.team_spaces[0].finalizers = {std::string(kFinalizer)};
      cluster.crd.has_status = false;
    };
  };
  CheckAll({
      {"a label that another set",
       [](Observation& cluster) {
         cluster.namespaces[0].team_space_label = "blue";
         cluster.namespaces[0].writers[LabelPath()] = kSomebody;
         cluster.namespaces[0].trace = kOursFirst;
       },
       {{LabelPath(), kSomebody, {}}}},
      {"a label that was removed", remove_label(kOursAlone), {{LabelPath(), {}, Absence{true, kOursAlone}}}},
      {"and somebody wrote since", remove_label(kOursFirst), {{LabelPath(), {}, Absence{true, kOursFirst}}}},
      {"on a namespace that we are not seen to have written",
       remove_label(kOthersAlone),
       {{LabelPath(), {}, Absence{false, kOthersAlone}}}},
      {"on one that nobody is", remove_label({}), {{LabelPath(), {}, {}}}},
      {"an owner that was removed", remove_owner(kOursFirst), {{owners, {}, Absence{true, kOursFirst}}}},
      {"an owner that an adopted namespace never had",
       remove_owner(kOthersAlone, false),
       {{owners, {}, Absence{false, kOthersAlone}}}},
      {"an owner that this TeamSpace was never, but one before it",
       remove_owner(kOursFirst, false),
       {{owners, {}, Absence{false, kOursFirst}}}},
      {"an owner that somebody spoiled",
       [](Observation& cluster) {
         cluster.namespaces[0].owners[0].api_version = "platform.labhub.io/v1";
         cluster.namespaces[0].writers[OwnerPath("uid-red")] = kSomebody;
       },
       {{owners, kSomebody, {}}}},
  });
}

TEST_CASE("ComputePlan tells of a quota who set a key, and what is known of one that is gone", "[core][plan]") {
  const std::string pods = "spec.hard.pods";
  const auto remove_pods = [](WriteTrace trace) {
    return [trace = std::move(trace)](Observation& cluster) {
      cluster.quotas[0].hard.erase("pods");
      cluster.quotas[0].trace = trace;
    };
  };
  CheckAll({
      {"changed, added",
       [](Observation& cluster) {
         cluster.quotas[0].hard["pods"] = "99";
         cluster.quotas[0].hard["configmaps"] = "1";
         cluster.quotas[0].writers = {{"spec.hard.pods", kSomebody}, {"spec.hard.configmaps", kOfStatus}};
         cluster.quotas[0].trace = kOursFirst;
       },
       {{pods, kSomebody, {}}, {"spec.hard.configmaps", kOfStatus, {}}}},
      {"behind a spec that was changed: nobody else set it",
       [](Observation& cluster) { cluster.quotas[0].hard["pods"] = "5"; },
       {{pods, {}, {}}}},
      {"removed", remove_pods(kOursAlone), {{pods, {}, Absence{true, kOursAlone}}}},
      {"and somebody wrote since", remove_pods(kOursFirst), {{pods, {}, Absence{true, kOursFirst}}}},
      {"from a quota of another", remove_pods(kOthersAlone), {{pods, {}, Absence{false, kOthersAlone}}}},
      {"scopes",
       [](Observation& cluster) {
         cluster.quotas[0].scoped = true;
         cluster.quotas[0].scopes = "BestEffort";
         cluster.quotas[0].writers = {{std::string(kScopesPath), kSomebody}};
         cluster.quotas[0].trace = kOthersAlone;
       },
       {{std::string(kScopesPath), kSomebody, {}}, {pods, {}, {}}, {"spec.hard.requests.cpu", {}, {}}}},
      {"all of it",
       [](Observation& cluster) { cluster.quotas.clear(); },
       {{pods, {}, {}}, {"spec.hard.requests.cpu", {}, {}}}},
  });
}

TEST_CASE("ComputePlan tells of a finalizer that was there, and of a new TeamSpace nothing", "[core][plan]") {
  const std::string finalizers(kFinalizersPath);
  const auto remove = [](WriteTrace trace) {
    return [trace = std::move(trace)](Observation& cluster) {
      cluster.team_spaces[0].finalizers.clear();
      cluster.team_spaces[0].trace = trace;
    };
  };
  CheckAll({
      {"removed", remove(kOursAlone), {{finalizers, {}, Absence{true, kOursAlone}}}},
      {"and somebody wrote since", remove(kOursFirst), {{finalizers, {}, Absence{true, kOursFirst}}}},
      {"with nothing of ours left", remove(kOthersAlone), {}},
      {"a status of ours, written when the finalizer could not be added, proves nothing",
       [](Observation& cluster) {
         cluster.team_spaces[0].finalizers.clear();
         cluster.team_spaces[0].trace = kOursAlone;
         cluster.team_spaces[0].status.observed_generation.reset();
         cluster.crd.has_status = false;
       },
       {}},
  });
  Observation fresh = ConvergedCluster({});
  fresh.team_spaces = {NewTeamSpaceNamed("red")};
  fresh.team_spaces[0].trace = kOthersAlone;
  for (const Told& told : ToldOf(fresh)) CHECK((!told.writer && !told.absence));
}

TEST_CASE("ComputePlan tells who wrote a status that is not as we left it", "[core][plan]") {
  const WriteTrace later{kOursAlone.ours, {kOfStatus}};
  const WriteTrace others{std::nullopt, {kOfStatus}};
  const std::string observed(kObservedGenerationPath);
  const std::string space(kStatusNamespacePath);
  const std::string ready(kReadyConditionPath);
  const auto set = [](std::initializer_list<std::string> paths) {
    FieldWriters writers;
    for (const std::string& path : paths) writers[path] = kOfStatus;
    return writers;
  };
  CheckAll({
      {"observedGeneration, by somebody",
       [&](Observation& cluster) {
         cluster.team_spaces[0].status.observed_generation = 0;
         cluster.team_spaces[0].writers = set({observed});
       },
       {{observed, kOfStatus, {}}}},
      {"the status of Ready",
       [&](Observation& cluster) {
         cluster.team_spaces[0].status.ready->status = "Unknown";
         cluster.team_spaces[0].writers = set({ReadyMemberPath("status")});
       },
       {{ready, kOfStatus, {}}}},
      {"its reason alone",
       [&](Observation& cluster) {
         cluster.team_spaces[0].status.ready->reason = "Fine";
         cluster.team_spaces[0].writers = set({ReadyMemberPath("reason")});
       },
       {{ready, kOfStatus, {}}}},
      {"its message alone",
       [&](Observation& cluster) {
         cluster.team_spaces[0].status.ready->message = "fine";
         cluster.team_spaces[0].writers = set({ReadyMemberPath("message")});
       },
       {{ReadyMemberPath("message"), kOfStatus, {}}}},
      {"a member that is gone beside a Ready that says Reconciled was removed",
       [&](Observation& cluster) {
         cluster.team_spaces[0].status.namespace_name.reset();
         cluster.team_spaces[0].status_trace = later;
       },
       {{space, {}, Absence{true, later}}}},
      {"conditions that are gone may never have been there",
       [&](Observation& cluster) {
         cluster.team_spaces[0].status.ready.reset();
         cluster.team_spaces[0].status_trace = later;
       },
       {{ready, {}, Absence{false, later}}}},
      {"all of it gone",
       [&](Observation& cluster) {
         cluster.team_spaces[0].status = {};
         cluster.team_spaces[0].status_trace = others;
       },
       {{observed, {}, Absence{false, others}},
        {space, {}, Absence{false, others}},
        {ready, {}, Absence{false, others}}}},
      {"not there yet, since the rest is not either",
       [&](Observation& cluster) {
         cluster.team_spaces[0].status = {};
         cluster.team_spaces[0].status_trace = others;
         cluster.quotas[0].hard["pods"] = "99";
       },
       {{"spec.hard.pods", {}, {}}, {observed, {}, {}}, {space, {}, {}}, {ready, {}, {}}}},
  });
}

}  // namespace
}  // namespace cnpa
