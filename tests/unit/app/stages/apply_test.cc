// SPDX-License-Identifier: Apache-2.0
#include "app/stages/apply.h"

#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <vector>

#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/describe.h"
#include "support/fake_api_server.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

struct Applied {
  Report report;
  std::string told;  ///< Names of the chains in the order in which they were told.
};

Applied ApplyTo(FakeApiServer& server, const Plan& plan, const std::string& archive_folder,
                std::size_t concurrency = 4) {
  Client client(server, std::chrono::seconds(15));
  Archive archive(archive_folder);
  Applied applied;
  applied.report = Apply(plan, client, archive, concurrency,
                         [&applied](const Chain& chain, const ChainReport&) { applied.told += chain.name + " "; });
  return applied;
}

TEST_CASE("Apply of an empty plan sends nothing", "[app][apply]") {
  FakeApiServer server;
  CHECK(ApplyTo(server, {}, "").report.chains.empty());
  CHECK(server.requests.empty());
}

TEST_CASE("Apply makes every change of every chain, and tells chains in the order of the plan", "[app][apply]") {
  Observation cluster;
  for (const std::string name : {"c", "a", "b"}) cluster.team_spaces.push_back(NewTeamSpaceNamed(name));
  const Plan plan = ComputePlan(cluster);
  for (const std::size_t concurrency : {1U, 2U, 100U}) {
    CAPTURE(concurrency);
    FakeApiServer server;
    server.Put(cluster);
    const Applied applied = ApplyTo(server, plan, "", concurrency);
    CHECK(applied.told == "a b c ");
    CHECK(applied.report.writes == 12);
    for (const ChainReport& chain : applied.report.chains) {
      CHECK(chain.end == ChainEnd::kComplete);
      CHECK(chain.done == 4);
    }
  }
}

TEST_CASE("Apply has as many chains at work as it may, and no more", "[app][apply]") {
  Observation cluster = ConvergedCluster({"a", "b", "c", "d", "e"});
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  for (const std::size_t concurrency : {1U, 2U, 5U}) {
    CAPTURE(concurrency);
    FakeApiServer server;
    server.Put(cluster);
    CHECK(ApplyTo(server, ComputePlan(cluster), "", concurrency).told == "a b c d e ");
    CHECK(server.most_at_once == concurrency);
  }
}

TEST_CASE("Apply archives before it takes the finalizer off", "[app][apply]") {
  const TempFolder folder;
  Observation cluster;
  cluster.team_spaces = {DeletedTeamSpaceNamed("red")};
  FakeApiServer server;
  server.Put(cluster);
  bool archived = false;
  server.before = [&](const Request&) { archived = !folder.Read("archive/red.json").empty(); };
  const Applied applied = ApplyTo(server, ComputePlan(cluster), folder.Path("archive"));
  CHECK(archived);
  CHECK(applied.report.chains[0].end == ChainEnd::kComplete);
  CHECK(applied.report.writes == 1);
  CHECK_FALSE(server.Has(PathOfTeamSpace("red")));
}

TEST_CASE("Apply does not take the finalizer off when the archive fails", "[app][apply]") {
  Observation cluster;
  cluster.team_spaces = {DeletedTeamSpaceNamed("red")};
  FakeApiServer server;
  server.Put(cluster);
  const Applied applied = ApplyTo(server, ComputePlan(cluster), "");
  const ChainReport& red = applied.report.chains[0];
  CHECK(red.end == ChainEnd::kFailed);
  CHECK(red.done == 0);
  CHECK(red.error == Error{ErrorCode::kInvalid, "no archive folder: give --archive"});
  REQUIRE(red.refusal);
  CHECK(red.refusal->reason == Reason::kArchiveFailed);
  CHECK(server.TakeWrites() == std::vector<std::string>{"PATCH " + PathOfTeamSpace("red") + "/status"});
  CHECK(server.At(PathOfTeamSpace("red"), "/metadata/finalizers") == R"(["platform.labhub.io/cleanup"])");
}

const Response kNamespaceGoes =
    StatusAnswer(403, "Forbidden", "no", R"({"causes":[{"reason":"NamespaceTerminating"}]})");

TEST_CASE("Apply ends a chain by what its failure means", "[app][apply]") {
  struct Case {
    std::string name;
    Result<Response> answer;
    ChainEnd end;
    std::optional<Reason> reason;
    bool tells;  // By a status write.
  };
  const std::vector<Case> cases{
      {"what another pass has created is a lost race",
       StatusAnswer(409, "AlreadyExists", "no", R"({"name":"team-quota","kind":"resourcequotas"})"),
       ChainEnd::kLostRace,
       {},
       false},
      {"a namespace that is gone is a lost race",
       StatusAnswer(404, "NotFound", "no", R"({"name":"team-red","kind":"namespaces"})"),
       ChainEnd::kLostRace,
       {},
       false},
      {"404 of a gateway", Response{.code = 404, .body = "404 page not found"}, ChainEnd::kFailed,
       Reason::kQuotaRefused, true},
      {"409 of a webhook",
       StatusAnswer(409, "AlreadyExists", R"(admission webhook \"a.b\" denied the request: no)",
                    R"({"name":"team-quota","kind":"resourcequotas"})"),
       ChainEnd::kFailed, Reason::kQuotaRefused, true},
      {"a refused value", StatusAnswer(422, "Invalid", "no", R"({"name":"x"})"), ChainEnd::kFailed,
       Reason::kQuotaRefused, true},
      {"a right that lacks",
       StatusAnswer(403, "Forbidden", R"(User \"u\" cannot create resource \"resourcequotas\" in API group \"\")"),
       ChainEnd::kFailed, Reason::kForbidden, true},
      {"a namespace that has ended, in the server's cache beside ours", kNamespaceGoes, ChainEnd::kLostRace, {}, false},
      {"no answer", Fail(ErrorCode::kUnavailable, "reset"), ChainEnd::kFailed, {}, false},
      {"503", StatusAnswer(503, "ServiceUnavailable", "no"), ChainEnd::kFailed, {}, false},
      {"not sent", Fail(ErrorCode::kStopped, "not sent"), ChainEnd::kLeft, {}, false},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Observation cluster;
      cluster.team_spaces = {NewTeamSpaceNamed("blue"), NewTeamSpaceNamed("red")};
      FakeApiServer server;
      server.Put(cluster);
      server.failure = {"POST /api/v1/namespaces/team-red/resourcequotas", c.answer};
      const Applied applied = ApplyTo(server, ComputePlan(cluster), "");
      const ChainReport& red = applied.report.chains[1];
      CHECK(red.end == c.end);
      CHECK(red.done == 2);
      CHECK(red.refusal.has_value() == c.reason.has_value());
      if (c.reason && red.refusal) {
        CHECK(red.refusal->reason == *c.reason);
      }
      CHECK(server.At(PathOfTeamSpace("red"), "/status").empty() == !c.tells);
      CHECK(red.told == c.tells);
      CHECK(server.At(PathOfTeamSpace("red"), "/status/observedGeneration").empty());
      CHECK(applied.report.chains[0].end == ChainEnd::kComplete);
      CHECK(server.At(PathOfTeamSpace("blue"), "/status/observedGeneration") == "1");
      CHECK(applied.told == "blue red ");
    }
  }
}

TEST_CASE("Apply tells the team of a namespace that goes since it was listed", "[app][apply]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas.clear();
  FakeApiServer server;
  server.Put(cluster);
  server.failure = {"POST /api/v1/namespaces/team-red/resourcequotas", kNamespaceGoes};
  const Applied applied = ApplyTo(server, ComputePlan(cluster), "");
  const ChainReport& red = applied.report.chains[0];
  CHECK(red.end == ChainEnd::kFailed);
  REQUIRE(red.refusal);
  CHECK(red.refusal->reason == Reason::kNamespaceTerminating);
  CHECK(red.told);
}

TEST_CASE("Apply changes neither namespace nor quota of a TeamSpace that is no longer what was listed",
          "[app][apply]") {
  Observation cluster = ConvergedCluster({"blue", "red"});
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  FakeApiServer server;
  server.Put(cluster);
  const Plan plan = ComputePlan(cluster);
  TeamSpace& red = cluster.team_spaces[1];
  SECTION("its spec was changed") {
    red.generation = 2;
  }
  SECTION("it was made anew") {
    red.uid = "uid-anew";
  }
  server.Put(red);
  const Applied applied = ApplyTo(server, plan, "");
  CHECK(applied.report.chains[0].end == ChainEnd::kComplete);
  CHECK(applied.report.chains[1].end == ChainEnd::kLostRace);
  CHECK(applied.report.chains[1].done == 0);
  CHECK(server.TakeWrites() == std::vector<std::string>{"PATCH " + PathOfQuota("blue")});
}

TEST_CASE("Apply has the status tell the uid of the namespace that it has created", "[app][apply]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.namespaces.clear();
  cluster.quotas.clear();
  FakeApiServer server;
  server.Put(cluster);
  SECTION("all is well") {
    CHECK(ApplyTo(server, ComputePlan(cluster), "").report.chains.at(0).end == ChainEnd::kComplete);
    CHECK(server.At(PathOfTeamSpace("red"), "/status/conditions/0/reason") == R"("Reconciled")");
  }
  SECTION("the quota is refused") {
    server.failure = {"POST " + PathOfNamespace("red"), StatusAnswer(403, "Forbidden", "denied")};
    ApplyTo(server, ComputePlan(cluster), "");
    CHECK(server.At(PathOfTeamSpace("red"), "/status/conditions/0/reason") == R"("QuotaRefused")");
  }
  CHECK(server.At(PathOfNamespace("red"), "/metadata/uid") == R"("made-team-red-1")");
  CHECK(server.At(PathOfTeamSpace("red"), "/status/namespaceUID") == R"("made-team-red-1")");
  // It is too young to be another one by now, so nobody looks at it again: four writes a new team space, and no read.
  for (const std::string& request : server.Log()) CHECK_FALSE(request.starts_with("GET /api/v1/namespaces"));
}

TEST_CASE("Apply takes a new quota back when its namespace has become somebody else's meanwhile", "[app][apply]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas.clear();
  const Plan plan = ComputePlan(cluster);
  FakeApiServer server;
  server.Put(cluster);
  const auto replace_by = [&server](const Namespace& space) {
    server.before = [&server, space](const Request& request) {
      if (request.method == Method::kPost) server.Put(space);
    };
  };
  const auto apply = [&] { return ApplyTo(server, plan, "").report.chains.at(0); };
  SECTION("it is the one that was listed") {
    CHECK(apply().end == ChainEnd::kComplete);
    CHECK(server.Has(PathOfQuota("red")));
  }
  SECTION("somebody has created one of that name") {
    replace_by(ForeignNamespaceFor("red"));
    const ChainReport chain = apply();
    CHECK(chain.end == ChainEnd::kLostRace);
    CHECK(chain.done == 0);
    CHECK(chain.error == Error{ErrorCode::kConflict,
                               "namespace team-red is somebody else's since a moment ago: its new quota is deleted "
                               "again"});
    CHECK_FALSE(server.Has(PathOfQuota("red")));
  }
  SECTION("and it can't be taken back: that is told") {
    replace_by(ForeignNamespaceFor("red"));
    server.failure = {"DELETE " + PathOfQuota("red"), StatusAnswer(500, "InternalError", "etcd", "{}")};
    const ChainReport chain = apply();
    CHECK(chain.end == ChainEnd::kFailed);
    CHECK(
        chain.error.message.starts_with("namespace team-red is somebody else's since a moment ago, and still has a "
                                        "quota of ours: DELETE "));
  }
  SECTION("another pass has created one of that name: it is ours") {
    Namespace other = NamespaceFor("red");
    other.uid = "uid-of-another-pass";
    replace_by(other);
    CHECK(apply().end == ChainEnd::kComplete);
    CHECK(server.Has(PathOfQuota("red")));
  }
  SECTION("nobody can tell") {
    server.failure = {"GET " + kNamespaces.path(), StatusAnswer(422, "Invalid", "no", R"({"name":"x"})")};
    const ChainReport chain = apply();
    CHECK(chain.end == ChainEnd::kFailed);
    CHECK(chain.error.code == ErrorCode::kUnavailable);
    CHECK(chain.refusal == std::nullopt);
  }
}

TEST_CASE("Apply takes a quota that is gone already as deleted", "[app][apply]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas[0].scoped = true;
  FakeApiServer server;
  server.Put(cluster);
  server.Erase(PathOfQuota("red"));
  const Applied applied = ApplyTo(server, ComputePlan(cluster), "");
  CHECK(applied.report.chains[0].end == ChainEnd::kComplete);
  CHECK(server.At(PathOfQuota("red"), "/spec/hard/pods") == R"("6")");
}

TEST_CASE("Apply keeps the failure that counts when its status can't be told either", "[app][apply]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas[0].hard["pods"] = "99";
  FakeApiServer server;
  server.Put(cluster);
  server.failure = {"PATCH", StatusAnswer(422, "Invalid", "no", R"({"name":"x"})")};
  const Applied applied = ApplyTo(server, ComputePlan(cluster), "");
  CHECK(applied.report.chains[0].refusal->reason == Reason::kQuotaRefused);
  CHECK_FALSE(applied.report.chains[0].told);
  CHECK(applied.report.writes == 0);
  CHECK(applied.told == "red ");
}

TEST_CASE("Apply holds each answer against what was asked, and ends the chain where it differs", "[app][apply]") {
  struct Case {
    std::string name;
    std::string field;  // Of FakeApiServer::policy.
    std::string value;
    std::size_t done;
    Reason reason;
    std::string words;
  };
  const std::string changes = ": an admission policy or webhook changes it";
  const std::string quota = "ResourceQuota/team-red/team-quota: ";
  const std::vector<Case> cases{
      {"pods", "ResourceQuota/spec/hard/pods", R"("2")", 2, Reason::kQuotaRefused,
       quota + "spec.hard.pods was sent as '6' and kept as '2'" + changes},
      {"cpu", "ResourceQuota/spec/hard/requests.cpu", R"("1500m")", 2, Reason::kQuotaRefused,
       quota + "spec.hard.requests.cpu was sent as '2' and kept as '1500m'" + changes},
      {"a key that goes", "ResourceQuota/spec/hard/pods", "null", 2, Reason::kQuotaRefused,
       quota + "spec.hard.pods was sent as '6' and kept as nothing" + changes},
      {"a key more", "ResourceQuota/spec/hard/secrets", R"("1")", 2, Reason::kQuotaRefused,
       quota + "spec.hard.secrets was sent as nothing and kept as '1'" + changes},
      {"scopes", "ResourceQuota/spec/scopes", R"(["BestEffort"])", 2, Reason::kQuotaRefused,
       quota + "spec.scopes was sent as nothing and kept as 'BestEffort'" + changes},
      {"the label", "Namespace/metadata/labels/platform.labhub.io~1teamspace", R"("blue")", 1, Reason::kWriteFailed,
       "Namespace/team-red: metadata.labels['platform.labhub.io/teamspace'] was sent as 'red' and kept as 'blue'" +
           changes},
      {"the ownerReferences", "Namespace/metadata/ownerReferences", "null", 1, Reason::kWriteFailed,
       "Namespace/team-red: metadata.ownerReferences was sent as 'uid-red' and kept as nothing" + changes},
      {"the finalizer", "TeamSpace/metadata/finalizers", R"(["a/b"])", 0, Reason::kWriteFailed,
       "TeamSpace/red: metadata.finalizers was sent as 'platform.labhub.io/cleanup' and kept as nothing" + changes},
      {"the status", "TeamSpace/status/observedGeneration", "7", 3, Reason::kWriteFailed,
       "TeamSpace/red: status.observedGeneration was sent as '1' and kept as '7'" + changes},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Observation cluster;
      cluster.team_spaces = {NewTeamSpaceNamed("red")};
      FakeApiServer server;
      server.Put(cluster);
      server.policy[c.field] = c.value;
      const Applied applied = ApplyTo(server, ComputePlan(cluster), "");
      const ChainReport& red = applied.report.chains[0];
      CHECK(red.end == ChainEnd::kFailed);
      CHECK(red.done == c.done);
      CHECK(red.error == Error{ErrorCode::kInvalid, c.words});
      REQUIRE(red.refusal);
      CHECK(red.refusal->reason == c.reason);
      CHECK(red.refusal->message.ends_with(c.words));
      const bool of_status = c.name == "the status";
      CHECK(red.told == !of_status);
      if (!of_status) {
        CHECK(server.At(PathOfTeamSpace("red"), "/status/observedGeneration").empty());
        CHECK(server.At(PathOfTeamSpace("red"), "/status/conditions/0/status") == R"("False")");
      }
      CHECK(red.altered.size() == 1);
    }
  }
}

TEST_CASE("Apply takes no answer about something else for a refusal, nor for success", "[app][apply]") {
  for (const std::string body : {R"({"kind":"Status","apiVersion":"v1","status":"Success"})",
                                 R"({"kind":"ResourceQuota","apiVersion":"v1","metadata":{}})"}) {
    CAPTURE(body);
    Observation cluster = ConvergedCluster({"red"});
    cluster.quotas[0].hard["pods"] = "99";
    FakeApiServer server;
    server.Put(cluster);
    server.failure = {"PATCH " + PathOfQuota("red"), Response{.code = 200, .body = body}};
    const ChainReport red = ApplyTo(server, ComputePlan(cluster), "").report.chains[0];
    CHECK(red.end == ChainEnd::kFailed);
    CHECK(red.error.code == ErrorCode::kUnavailable);
    CHECK(red.error.message.ends_with("the next pass will see"));
    CHECK_FALSE(red.refusal);
  }
}

TEST_CASE("Apply begins chains as the passes before leave it to it, and tells them in the plan's order",
          "[app][apply]") {
  Observation cluster = ConvergedCluster({"a", "b", "c"});
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  FakeApiServer server;
  server.Put(cluster);
  Client client(server, std::chrono::seconds(15));
  Archive archive("");
  std::string told;
  Apply(ComputePlan(cluster), client, archive, 1,
        [&told](const Chain& chain, const ChainReport&) { told += chain.name + " "; }, {.order = {2, 0, 1}});
  CHECK(server.TakeWrites() == std::vector<std::string>{"PATCH " + PathOfQuota("c"), "PATCH " + PathOfQuota("a"),
                                                        "PATCH " + PathOfQuota("b")});
  CHECK(told == "a b c ");
}

TEST_CASE("Apply calls a race that is lost in each pass a refusal", "[app][apply]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas[0].hard["pods"] = "99";
  FakeApiServer server;
  server.Put(cluster);
  server.failure = {"PATCH " + PathOfQuota("red"), FailedTestAnswer()};
  const Plan plan = ComputePlan(cluster);
  SetbackRecord setbacks;
  Archive archive("");
  for (int pass = 1; pass <= 4; ++pass) {
    Client client(server, std::chrono::seconds(15));
    const Report report =
        Apply(plan, client, archive, 1, [](const Chain&, const ChainReport&) {}, {.order = {}, .setbacks = &setbacks});
    const ChainReport& red = report.chains[0];
    CAPTURE(pass);
    CHECK(report.lost_race() == (pass < 3));
    CHECK(red.end == (pass < 3 ? ChainEnd::kLostRace : ChainEnd::kFailed));
    CHECK(red.told == (pass == 3));  // The plan is the same, and the status written.
    REQUIRE(red.refusal.has_value() == (pass >= 3));
    if (red.refusal) {
      CHECK(red.refusal->reason == Reason::kWriteFailed);
      CHECK(Contains(red.refusal->message, red.error.message));
    }
    setbacks.Note(plan.chains[0].uid, red.error, {}, kNow);
  }
}

TEST_CASE("Apply begins nothing new once the pass is told to end", "[app][apply]") {
  const TempFolder folder;
  Observation cluster = ConvergedCluster({"a", "b", "c"});
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  cluster.team_spaces.push_back(DeletedTeamSpaceNamed("z"));
  FakeApiServer server;
  server.Put(cluster);
  server.before = [&server](const Request&) { server.stop = true; };
  const Applied applied = ApplyTo(server, ComputePlan(cluster), folder.Path("archive"), 1);
  CHECK(applied.report.writes == 1);
  CHECK(applied.report.chains[0].end == ChainEnd::kComplete);  // The deletion came first.
  for (std::size_t i = 1; i < applied.report.chains.size(); ++i) CHECK(applied.report.chains[i].end == ChainEnd::kLeft);
  CHECK(applied.told == "z a b c ");
}

TEST_CASE("Apply writes no archive once the pass is told to end", "[app][apply]") {
  const TempFolder folder;
  Observation cluster;
  cluster.team_spaces = {DeletedTeamSpaceNamed("red")};
  FakeApiServer server;
  server.stop = true;
  CHECK(ApplyTo(server, ComputePlan(cluster), folder.Path("archive")).report.chains[0].end == ChainEnd::kLeft);
  CHECK(folder.Names().empty());
}

/// Somebody else who holds the lock of `folder`.
UniqueFd LockOf(const std::string& folder) {
  UniqueFd fd(::open((folder + "/" + kArchiveLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(::flock(fd.get(), LOCK_EX | LOCK_NB) == 0);
  return fd;
}

TEST_CASE("Apply goes on with others while the archive folder is locked", "[app][apply]") {
  const TempFolder folder;
  folder.Write("archive/other", "");
  UniqueFd lock = LockOf(folder.Path("archive"));
  Observation cluster = ConvergedCluster({"drifted"});
  cluster.quotas[0].hard["pods"] = "99";
  for (const std::string name : {"a", "b"}) cluster.team_spaces.push_back(DeletedTeamSpaceNamed(name));
  cluster.team_spaces.push_back(NewTeamSpaceNamed("new"));
  FakeApiServer server;
  server.Put(cluster);
  const auto run = [&](std::size_t concurrency) {
    Client client(server, std::chrono::seconds(15));
    Archive archive(folder.Path("archive"), Archive::Make::kLastOnly, std::chrono::milliseconds(100));
    return Apply(ComputePlan(cluster), client, archive, concurrency, [](const Chain&, const ChainReport&) {});
  };
  const std::size_t concurrency = GENERATE(1U, 32U);
  SECTION("and says so of those that wait for it, once it was held too long") {
    const Report report = run(concurrency);
    for (const std::size_t deleted : {0U, 1U}) {
      CHECK(report.chains[deleted].end == ChainEnd::kFailed);
      REQUIRE(report.chains[deleted].refusal);
      CHECK(report.chains[deleted].refusal->reason == Reason::kArchiveFailed);
      CHECK(report.chains[deleted].told);
    }
    CHECK(server.Has(PathOfTeamSpace("a")));
  }
  SECTION("and with the archives once it is free") {
    server.before = [&lock](const Request& request) {
      if (request.path.find("resourcequotas") != std::string::npos) lock = UniqueFd();
    };
    const Report report = run(concurrency);
    for (const std::size_t deleted : {0U, 1U}) CHECK(report.chains[deleted].end == ChainEnd::kComplete);
    CHECK_FALSE(server.Has(PathOfTeamSpace("b")));
  }
  CHECK(server.At(PathOfQuota("drifted"), "/spec/hard/pods") == R"("6")");
  CHECK(server.At(PathOfQuota("new"), "/spec/hard/pods") == R"("6")");
}

TEST_CASE("Apply waits for no lock once the pass is told to end", "[app][apply]") {
  const TempFolder folder;
  folder.Write("archive/other", "");
  const UniqueFd lock = LockOf(folder.Path("archive"));
  Observation cluster = ConvergedCluster({"drifted"});
  cluster.quotas[0].hard["pods"] = "99";
  cluster.team_spaces.push_back(DeletedTeamSpaceNamed("a"));
  FakeApiServer server;
  server.Put(cluster);
  server.before = [&server](const Request& request) { server.stop = request.method == Method::kPatch; };
  const Applied applied = ApplyTo(server, ComputePlan(cluster), folder.Path("archive"));
  CHECK(applied.report.chains[0].end == ChainEnd::kLeft);
  CHECK(applied.report.chains[1].end == ChainEnd::kComplete);
}

TEST_CASE("Apply says of an archive whether this pass has written it", "[app][apply]") {
  const TempFolder folder;
  Observation cluster;
  cluster.team_spaces = {DeletedTeamSpaceNamed("red")};
  FakeApiServer server;
  server.Put(cluster);
  server.failure = {"PATCH", StatusAnswer(422, "Invalid", "no", R"({"name":"x"})")};
  const ChainReport first = ApplyTo(server, ComputePlan(cluster), folder.Path("archive")).report.chains[0];
  CHECK(first.done == 1);
  CHECK_FALSE(first.archive_was_there);
  const ChainReport second = ApplyTo(server, ComputePlan(cluster), folder.Path("archive")).report.chains[0];
  CHECK(second.done == 1);
  CHECK(second.archive_was_there);
}

TEST_CASE("Apply does not release a TeamSpace whose spec is no longer what was archived", "[app][apply]") {
  const TempFolder folder;
  Observation cluster;
  cluster.team_spaces = {DeletedTeamSpaceNamed("red")};
  FakeApiServer server;
  server.Put(cluster);
  const Plan plan = ComputePlan(cluster);
  ++cluster.team_spaces[0].generation;
  server.Put(cluster.team_spaces[0]);
  CHECK(ApplyTo(server, plan, folder.Path("archive")).report.chains[0].end == ChainEnd::kLostRace);
  CHECK(server.Has(PathOfTeamSpace("red")));
  CHECK(ApplyTo(server, ComputePlan(cluster), folder.Path("archive")).report.chains[0].end == ChainEnd::kComplete);
  CHECK(folder.Read("archive/red.json").find("\"generation\": 3") != std::string::npos);
}

TEST_CASE("Apply keeps the plan's refusal of a chain that it completed", "[app][apply]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.team_spaces[0].cpu = "lots";
  FakeApiServer server;
  server.Put(cluster);
  const Applied applied = ApplyTo(server, ComputePlan(cluster), "");
  CHECK(applied.report.chains[0].end == ChainEnd::kComplete);
  CHECK(applied.report.chains[0].refusal->reason == Reason::kInvalidQuantity);
}

}  // namespace
}  // namespace cnpa
