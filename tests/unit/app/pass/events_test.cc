// SPDX-License-Identifier: Apache-2.0
#include "app/pass/events.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/teamspace/plan.h"
#include "kube/codec/event_codec.h"
#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

/// The events of a pass over `cluster` in which each chain is done as `spoil` says; by default to its end.
std::vector<Event> EventsIn(
    const Observation& cluster, const std::function<void(ChainReport&)>& spoil = [](ChainReport&) {}) {
  std::vector<Event> events;
  for (const Chain& chain : ComputePlan(cluster).chains) {
    ChainReport report{.done = chain.changes.size(), .end = ChainEnd::kComplete, .refusal = chain.refusal};
    spoil(report);
    for (Event& event : EventsOf(chain, report)) events.push_back(std::move(event));
  }
  return events;
}

std::vector<std::string> LinesOf(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  lines.reserve(events.size());
  for (const Event& event : events) {
    lines.push_back((event.warning ? "Warning " : "Normal ") + event.reason + " " + event.action + " [" +
                    (event.related.kind.empty() ? "" : event.related.Text()) + "] " + event.note);
  }
  return lines;
}

Observation DriftedCluster() {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas[0].hard["pods"] = "99";
  cluster.quotas[0].writers["spec.hard.pods"] = {"kubectl-patch", "Update", "", kNow};
  return cluster;
}

TEST_CASE("EventsOf tells repairs, refusals and archives, and nothing else", "[app][events]") {
  struct Case {
    std::string name;
    std::function<void(Observation&)> change;
    std::vector<std::string> want;
  };
  const std::vector<Case> cases{
      {"a field",
       [](Observation& o) { o = DriftedCluster(); },
       {"Normal Repaired Repair [ResourceQuota/team-red/team-quota] ResourceQuota team-red/team-quota: pods 99 -> 6: "
        "was changed by kubectl-patch"}},
      {"a field that is gone",
       [](Observation& o) { o.quotas[0].hard.erase("pods"); },
       {"Normal Repaired Repair [ResourceQuota/team-red/team-quota] ResourceQuota team-red/team-quota: pods none -> "
        "6"}},
      {"an object",
       [](Observation& o) { o.namespaces.clear(), o.quotas.clear(); },
       {"Normal Repaired Repair [Namespace/team-red] Namespace team-red: was deleted: re-created"}},
      {"the TeamSpace itself",
       [](Observation& o) { o.team_spaces[0].finalizers.clear(); },
       {"Normal Repaired Repair [] TeamSpace red: finalizer platform.labhub.io/cleanup was removed: added again"}},
      {"a refusal",
       [](Observation& o) { o.team_spaces[0].cpu = "lots"; },
       {"Warning InvalidQuantity Refuse [] spec.cpu: \"lots\" is not a positive number of CPUs, such as 500m, 2 or "
        "1.5"}},
      {"a new one that is refused",
       [](Observation& o) {
         o = {.team_spaces = {NewTeamSpaceNamed("red")}};
         o.team_spaces[0].cpu = "lots";
       },
       {"Warning InvalidQuantity Refuse [] spec.cpu: \"lots\" is not a positive number of CPUs, such as 500m, 2 or "
        "1.5"}},
      {"what only waits",
       [](Observation& o) { o.namespaces[0].terminating = true; },
       {"Normal NamespaceTerminating Refuse [] namespace team-red is being deleted; it is re-created once it is gone"}},
      {"a deletion",
       [](Observation& o) { o.team_spaces = {DeletedTeamSpaceNamed("red")}; },
       {"Normal Archived Archive [] archived as red.json, finalizer platform.labhub.io/cleanup removed"}},
      {"a new one", [](Observation& o) { o = {.team_spaces = {NewTeamSpaceNamed("red")}}; }, {}},
      {"a newer spec", [](Observation& o) { o.team_spaces[0].generation = 2, o.team_spaces[0].pods = 9; }, {}},
      {"a status alone", [](Observation& o) { o.team_spaces[0].status.namespace_name = "elsewhere"; }, {}},
      {"what can't be read", [](Observation& o) { o.quotas[0].unreadable = "no"; }, {}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Observation cluster = ConvergedCluster({"red"});
      c.change(cluster);
      const std::vector<Event> events = EventsIn(cluster);
      CHECK(LinesOf(events) == c.want);
      for (const Event& event : events) {
        CHECK(event.team_space == "red");
        CHECK(event.uid == "uid-red");
      }
    }
  }
}

TEST_CASE("EventsOf tells only what was written", "[app][events]") {
  const auto undone = [](ChainReport& report) {
    report.done = 0;
    report.end = ChainEnd::kLostRace;
  };
  CHECK(EventsIn(DriftedCluster(), undone).empty());
  Observation refused = ConvergedCluster({"red"});
  refused.team_spaces[0].cpu = "lots";
  CHECK(EventsIn(refused, undone).empty());
  // A refusal whose status says so already.
  const Chain chain{.name = "red", .uid = "uid-red", .refusal = Refusal{Reason::kInvalidName, "no"}};
  CHECK(EventsOf(chain, {.refusal = chain.refusal}).empty());
}

TEST_CASE("EventsOf tells a failure in the pass that writes its condition", "[app][events]") {
  const Refusal refusal{Reason::kQuotaRefused, "the server refuses the quota"};
  const auto failed = [&refusal](bool told) {
    return [&refusal, told](ChainReport& report) {
      report = {.done = 0, .end = ChainEnd::kFailed, .refusal = refusal, .told = told};
    };
  };
  CHECK(LinesOf(EventsIn(DriftedCluster(), failed(true))) ==
        std::vector<std::string>{"Warning QuotaRefused Refuse [] the server refuses the quota"});
  CHECK(EventsIn(DriftedCluster(), failed(false)).empty());
}

TEST_CASE("EventsOf makes one event of what somebody does again and again, and two of two who do", "[app][events]") {
  const auto name = [](const std::string& found, const std::string& manager, std::int64_t wanted) {
    Observation cluster = DriftedCluster();
    cluster.quotas[0].hard["pods"] = found;
    cluster.quotas[0].writers["spec.hard.pods"].manager = manager;
    cluster.team_spaces[0].pods = wanted;
    return EventName(EventsIn(cluster).at(0));
  };
  CHECK(name("99", "helm", 6) == name("98", "helm", 6));
  CHECK(name("99", "helm", 6) != name("99", "kubectl-patch", 6));
  CHECK(name("99", "helm", 6) != name("99", "helm", 7));
}

TEST_CASE("EventsOf tells what is contested as such, and not as a repair", "[app][events]") {
  const Plan plan = ComputePlan(DriftedCluster());
  Chain chain = plan.chains.at(0);
  const ChainReport report{.done = chain.changes.size(), .end = ChainEnd::kComplete};
  const Event repaired = EventsOf(chain, report).at(0);
  chain.changes[0].fields[0].contested = Contest{7, kNow};
  const std::vector<Event> events = EventsOf(chain, report);
  CHECK(LinesOf(events) ==
        std::vector<std::string>{"Warning Contested Repair [ResourceQuota/team-red/team-quota] kubectl-patch sets "
                                 "spec.hard.pods of ResourceQuota/team-red/team-quota again and again; stop it, or "
                                 "change the TeamSpace"});
  CHECK(EventName(events.at(0)) != EventName(repaired));
}

TEST_CASE("EventsOf keeps a note within what the server takes", "[app][events]") {
  Observation cluster = DriftedCluster();
  cluster.quotas[0].writers["spec.hard.pods"].manager = std::string(2000, 'm');
  const std::string note = EventsIn(cluster).at(0).note;
  CHECK(note.size() == 1024);
  CHECK(note.ends_with("mmm ..."));
}

}  // namespace
}  // namespace cnpa
