// SPDX-License-Identifier: Apache-2.0
//
// Whole passes on a server in memory, told by the state they end in - and, for the two promises of this
// program, by what they write: nothing.
#include "app/pass/reconcile.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kube/codec/codec.h"
#include "support/builders.h"
#include "support/capture.h"
#include "support/catch.h"
#include "support/fake_api_server.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

using Lines = std::vector<std::string>;
const Lines kNone;

/// A server, an archive folder, and passes over them.
struct Bench {
  explicit Bench(const Observation& cluster = {}) {
    server.Put(cluster);
    options.concurrency = 4;
    options.request_timeout = std::chrono::seconds(15);
    options.archive = folder.Path("archive");
  }

  ExitCode Run() {
    Archive archive(options.archive);
    const Log log(options.log_level, LogFormat::kText);
    const ReconcileContext context{.options = options,
                                   .log = log,
                                   .archive = archive,
                                   .now = [this] { return now; },
                                   .runtime_folder = runtime_folder,
                                   .in_loop = in_loop};
    CapturedStream captured_out(stdout);
    CapturedStream captured_err(stderr);
    const ExitCode code = Reconcile(server, context).code;
    err = captured_err.Text();
    out = captured_out.Text();
    return code;
  }

  FakeApiServer server;
  TempFolder folder;
  Options options;
  std::string runtime_folder;
  bool in_loop = false;
  Time now = kNow;
  std::string out;
  std::string err;
};

/// The same with a memory, and without events.
struct RememberingBench : Bench {
  explicit RememberingBench(const Observation& cluster) : Bench(cluster) {
    runtime_folder = folder.Path("run");
    options.no_events = true;
  }
};

/// A cluster with all that a pass may have to do.
Observation BusyCluster() {
  Observation cluster = ConvergedCluster({"drifted", "fine", "scoped"});
  cluster.quotas[0].hard["pods"] = "99";
  cluster.namespaces[0].team_space_label = std::nullopt;
  cluster.quotas[2].scoped = true;
  cluster.team_spaces.push_back(NewTeamSpaceNamed("new"));
  cluster.team_spaces.push_back(DeletedTeamSpaceNamed("old"));
  cluster.namespaces.push_back(NamespaceFor("old"));
  cluster.quotas.push_back(QuotaFor("old"));
  return cluster;
}

TEST_CASE("Reconcile brings a cluster to what its team spaces ask for", "[app][reconcile]") {
  Bench bench(BusyCluster());
  CHECK(bench.Run() == ExitCode::kConverged);
  const FakeApiServer& server = bench.server;
  CHECK(server.At(PathOfTeamSpace("new"), "/metadata/finalizers") == R"(["platform.labhub.io/cleanup"])");
  CHECK(server.At(PathOfTeamSpace("new"), "/status/observedGeneration") == "1");
  CHECK(server.At(PathOfTeamSpace("new"), "/status/conditions/0/reason") == R"("Reconciled")");
  CHECK(server.At(PathOfNamespace("new"), "/metadata/labels/platform.labhub.io~1teamspace") == R"("new")");
  CHECK(server.At(PathOfNamespace("new"), "/metadata/ownerReferences/0/uid") == R"("uid-new")");
  CHECK(server.At(PathOfQuota("new"), "/spec/hard") == R"({"pods":"6","requests.cpu":"2"})");
  CHECK(server.At(PathOfQuota("drifted"), "/spec/hard") == R"({"pods":"6","requests.cpu":"2"})");
  CHECK(server.At(PathOfNamespace("drifted"), "/metadata/labels/platform.labhub.io~1teamspace") == R"("drifted")");
  CHECK(server.At(PathOfQuota("scoped"), "/spec/scopes").empty());
  CHECK(server.At(PathOfQuota("scoped"), "/metadata/uid") != R"("uid-quota-scoped")");
  CHECK_FALSE(server.Has(PathOfTeamSpace("old")));
  CHECK(server.Has(PathOfNamespace("old")));  // The garbage collector's.
  CHECK(Contains(bench.folder.Read("archive/old.json"), R"("uid": "uid-old")"));
}

TEST_CASE("Reconcile: a second pass writes nothing", "[app][reconcile]") {
  Bench bench(BusyCluster());
  REQUIRE(bench.Run() == ExitCode::kConverged);
  CHECK_FALSE(bench.server.TakeWrites().empty());
  bench.now += std::chrono::hours(24);
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.server.TakeWrites() == kNone);
  CHECK(bench.out.empty());
  CHECK(bench.err.empty());
}

TEST_CASE("Reconcile: a second pass writes nothing, also where a team space is refused for a lasting reason",
          "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"conflict", "quantity", "terminating"});
  cluster.namespaces[0] = ForeignNamespaceFor("conflict");
  cluster.team_spaces[1].cpu = "lots";
  cluster.namespaces[2].terminating = true;
  TeamSpace dotted = NewTeamSpaceNamed("a.b");
  dotted.uid = "uid-dotted";
  cluster.team_spaces.push_back(dotted);
  Bench bench(cluster);
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CAPTURE(bench.err);
  CHECK(bench.server.TakeWrites().size() == 9);  // Four statuses and a finalizer, and an event on each refusal.
  CHECK(bench.server.At(PathOfNamespace("conflict"), "/metadata/ownerReferences").empty());
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.TakeWrites() == kNone);
  // --once names each refused team space every time.
  CHECK(Contains(bench.err, "! TeamSpace/conflict"));
  CHECK(Contains(bench.err, ". TeamSpace/terminating"));
}

TEST_CASE("Reconcile: a failed list writes nothing", "[app][reconcile]") {
  const std::vector<std::pair<std::string, Result<Response>>> failures{
      {"no answer", Fail(ErrorCode::kUnavailable, "connection refused")},
      {"401", StatusAnswer(401, "Unauthorized", "Unauthorized")},
      {"403",
       StatusAnswer(403, "Forbidden", R"(x is forbidden: User \"u\" cannot list resource \"x\" in API group \"\")")},
      {"404", StatusAnswer(404, "", "404 page not found")},
      {"500", StatusAnswer(500, "InternalError", "no")},
      {"503", StatusAnswer(503, "ServiceUnavailable", "no")},
      {"an item that does not decode", Response{.code = 200, .body = R"({"items":[{"metadata":{}}]})"}},
      {"half a list", Response{.code = 200, .body = R"({"items":[{"metadata":{"name":"a","uid":"b"}})"}},
      {"no list", Response{.code = 200, .body = "{}"}},
      {"nothing", Response{.code = 200}},
  };
  for (const std::string& list : {kTeamSpaces.path(), kNamespaces.path(), kQuotas.path()}) {
    for (const auto& [name, answer] : failures) {
      DYNAMIC_SECTION(list << ": " << name) {
        Bench bench(BusyCluster());
        bench.server.failure = {"GET " + list, answer};
        CHECK(bench.Run() == ExitCode::kUnreadable);
        CHECK(bench.server.TakeWrites() == kNone);
        CHECK(bench.folder.Names("archive").empty());
        CHECK(LinesOf(bench.err).size() == 1);
        CHECK(bench.err.starts_with("cnpa-op: "));
      }
    }
  }
}

TEST_CASE("Reconcile: a CRD that can't be read writes nothing", "[app][reconcile]") {
  Bench bench(BusyCluster());
  bench.server.failure = {"GET " + std::string(kCrdPath), Fail(ErrorCode::kUnavailable, "away")};
  CHECK(bench.Run() == ExitCode::kUnreadable);
  CHECK(bench.server.TakeWrites() == kNone);
  CHECK(bench.err == "cnpa-op: read the TeamSpace CRD: away\n");
}

TEST_CASE("Reconcile reads lists that come in pages, bytes by bytes", "[app][reconcile]") {
  Bench whole(BusyCluster());
  Bench paged(BusyCluster());
  paged.server.page_items = 2;
  paged.server.piece_bytes = 1;
  CHECK(whole.Run() == ExitCode::kConverged);
  CHECK(paged.Run() == ExitCode::kConverged);
  CHECK(paged.server.objects() == whole.server.objects());
}

TEST_CASE("Reconcile: when a change fails only its own chain ends, and the next pass ends in the same state",
          "[app][reconcile]") {
  Bench good(BusyCluster());
  REQUIRE(good.Run() == ExitCode::kConverged);
  const Lines writes = good.server.TakeWrites();
  for (const std::string& write : writes) {
    DYNAMIC_SECTION(write) {
      Bench bench(BusyCluster());
      bench.server.failure = {write + "?", StatusAnswer(500, "InternalError", "a webhook fails", R"({"name":"x"})")};
      if (write.starts_with("DELETE")) bench.server.failure->request = write;
      const bool is_event = write.ends_with("/events");
      CHECK(bench.Run() == (is_event ? ExitCode::kConverged : ExitCode::kUnconverged));
      // Chains are named by their team space, and no other's differs from the good end.
      for (const std::string name : {"drifted", "fine", "new", "old", "scoped"}) {
        const bool mine = write.ends_with("/" + name) || Contains(write, "/" + name + "/") ||
                          Contains(write + "/", "/team-" + name + "/") ||
                          (write == "POST /api/v1/namespaces" && name == "new");
        if (mine) continue;
        CAPTURE(name);
        CHECK(bench.server.At(PathOfTeamSpace(name), "") == good.server.At(PathOfTeamSpace(name), ""));
        CHECK(bench.server.At(PathOfNamespace(name), "/metadata/labels") ==
              good.server.At(PathOfNamespace(name), "/metadata/labels"));
        CHECK(bench.server.At(PathOfQuota(name), "/spec") == good.server.At(PathOfQuota(name), "/spec"));
      }
      bench.server.failure.reset();
      CHECK(bench.Run() == ExitCode::kConverged);
      for (const auto& [path, text] : good.server.objects()) {
        CAPTURE(path);
        CHECK(bench.server.At(path, "/spec") == good.server.At(path, "/spec"));
        CHECK(bench.server.At(path, "/status/observedGeneration") ==
              good.server.At(path, "/status/observedGeneration"));
      }
      CHECK_FALSE(bench.server.Has(PathOfTeamSpace("old")));
      bench.server.TakeWrites();
      CHECK(bench.Run() == ExitCode::kConverged);
      CHECK(bench.server.TakeWrites() == kNone);
    }
  }
}

TEST_CASE("Reconcile: a failed step stops the later steps of its own team space", "[app][reconcile]") {
  Observation cluster;
  cluster.team_spaces = {NewTeamSpaceNamed("red")};
  Bench bench(cluster);
  bench.server.failure = {"POST /api/v1/namespaces/team-red/resourcequotas",
                          StatusAnswer(422, "Invalid", "no such quota", R"({"name":"team-quota"})")};
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.Has(PathOfNamespace("red")));
  CHECK_FALSE(bench.server.Has(PathOfQuota("red")));
  // observedGeneration is not written; the condition says why.
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/observedGeneration").empty());
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/namespace") == R"("team-red")");
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/conditions/0/reason") == R"("QuotaRefused")");
  bench.server.TakeWrites();
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.TakeWrites() == Lines{"POST /api/v1/namespaces/team-red/resourcequotas"});
  bench.server.failure.reset();
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/conditions/0/reason") == R"("Reconciled")");
}

TEST_CASE("Reconcile: a crash after any request is harmless", "[app][reconcile]") {
  Bench good(BusyCluster());
  REQUIRE(good.Run() == ExitCode::kConverged);
  const std::size_t requests = good.server.requests.size();
  for (std::size_t last = 1; last < requests; ++last) {
    CAPTURE(last);
    Bench bench(BusyCluster());
    bench.options.concurrency = 1;
    bench.server.before = [&bench, last](const Request&) {
      // Nothing that comes later reaches the server.
      if (bench.server.requests.size() > last) bench.server.failure = {"", Fail(ErrorCode::kStopped, "not sent")};
    };
    bench.Run();
    bench.server.before = nullptr;
    bench.server.failure.reset();
    REQUIRE(bench.Run() == ExitCode::kConverged);
    for (const auto& [path, text] : good.server.objects()) {
      if (Contains(path, "/events/")) continue;  // What was done, and not told, before the crash is not told any more.
      CAPTURE(path);
      REQUIRE(bench.server.At(path, "/spec") == good.server.At(path, "/spec"));
      REQUIRE(bench.server.At(path, "/status") == good.server.At(path, "/status"));
      REQUIRE(bench.server.At(path, "/metadata/finalizers") == good.server.At(path, "/metadata/finalizers"));
      REQUIRE(bench.server.At(path, "/metadata/labels") == good.server.At(path, "/metadata/labels"));
    }
    REQUIRE(bench.folder.Names("archive") == std::set<std::string>{".cnpa-op.lock", "old.json"});
  }
}

TEST_CASE("Reconcile: two passes at once end in the same state with nothing lost", "[app][reconcile]") {
  Bench good(BusyCluster());
  REQUIRE(good.Run() == ExitCode::kConverged);
  const std::size_t writes = good.server.TakeWrites().size();
  for (std::size_t before_write = 0; before_write < writes; ++before_write) {
    CAPTURE(before_write);
    Bench bench(BusyCluster());
    std::size_t seen = 0;
    bool inside = false;
    bench.server.before = [&](const Request& request) {
      if (inside || request.method == Method::kGet || seen++ != before_write) return;
      inside = true;
      CHECK(bench.Run() == ExitCode::kConverged);  // A whole pass between two requests of the first.
      inside = false;
    };
    REQUIRE(bench.Run() == ExitCode::kConverged);
    for (const auto& [path, text] : good.server.objects()) {
      CAPTURE(path);
      REQUIRE(bench.server.At(path, "/spec") == good.server.At(path, "/spec"));
      REQUIRE(bench.server.At(path, "/status") == good.server.At(path, "/status"));
      REQUIRE(bench.server.At(path, "/metadata/finalizers") == good.server.At(path, "/metadata/finalizers"));
      REQUIRE(bench.server.At(path, "/metadata/ownerReferences") == good.server.At(path, "/metadata/ownerReferences"));
    }
    REQUIRE(bench.server.objects().size() == good.server.objects().size());
    REQUIRE(bench.folder.Names("archive") == std::set<std::string>{".cnpa-op.lock", "old.json"});
  }
}

TEST_CASE("Reconcile leaves a team space alone whose namespace can't be read, and goes on with the rest",
          "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"blue", "red"});
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  Bench bench(cluster);
  bench.server.Put(PathOfNamespace("red"),
                   R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"team-red","uid":"n","labels":[]}})");
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.At(PathOfQuota("blue"), "/spec/hard/pods") == R"("6")");
  CHECK(bench.server.At(PathOfQuota("red"), "/spec/hard/pods") == R"("99")");
  CHECK(Contains(bench.err, "Unreadable: cannot read namespace team-red: 'metadata.labels' is not an object"));
}

TEST_CASE("Reconcile loses nothing of another controller that writes at the same time", "[app][reconcile]") {
  Observation cluster;
  cluster.team_spaces = {DeletedTeamSpaceNamed("red")};
  Bench bench(cluster);
  bool raced = false;
  bench.server.before = [&](const Request& request) {
    if (request.method == Method::kGet || std::exchange(raced, true)) return;
    TeamSpace red = DeletedTeamSpaceNamed("red");
    red.finalizers = {"a.example/hold", std::string(kFinalizer)};
    bench.server.Put(red);
  };
  CHECK(bench.Run() == ExitCode::kConverged);  // It made one more pass at once.
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/metadata/finalizers") == R"(["a.example/hold"])");
  CHECK(bench.server.TakeWrites().size() == 3);  // Both tries, and the event of the second.
}

TEST_CASE("Reconcile sends events last, and as nothing that counts", "[app][reconcile]") {
  Bench bench(BusyCluster());
  REQUIRE(bench.Run() == ExitCode::kConverged);
  const Lines writes = bench.server.TakeWrites();
  const auto is_event = [](const std::string& write) { return write.ends_with("/events"); };
  const auto first = std::find_if(writes.begin(), writes.end(), is_event);
  CHECK(writes.end() - first == 4);  // Of "drifted" label and pods, of "scoped" the quota, of "old" the archive.
  CHECK(std::all_of(first, writes.end(), is_event));
  CHECK(Contains(bench.err, "; " + std::to_string(first - writes.begin()) + " writes in "));

  Bench silent(BusyCluster());
  silent.options.no_events = true;
  REQUIRE(silent.Run() == ExitCode::kConverged);
  CHECK(silent.server.TakeWrites() == Lines(writes.begin(), first));

  Bench dry(BusyCluster());
  dry.options.diff = true;
  CHECK(dry.Run() == ExitCode::kUnconverged);
  CHECK(dry.server.TakeWrites() == kNone);
}

TEST_CASE("Reconcile recognises a fight over several passes, and only where it may remember", "[app][reconcile]") {
  Bench bench(ConvergedCluster({"red"}));
  bench.runtime_folder = bench.folder.Path("run");
  const auto pass = [&bench] {
    Quota quota = QuotaFor("red");
    quota.hard["pods"] = "99";
    bench.server.Put(quota);
    bench.now += std::chrono::seconds(3);
    REQUIRE(bench.Run() == ExitCode::kConverged);
  };
  for (int i = 0; i < 2; ++i) {
    pass();
    CHECK_FALSE(Contains(bench.err, "ontested"));
  }
  pass();
  CHECK(Contains(bench.err, "pods 99 -> 6: contested, 3 times in 6s\n"));
  CHECK(Contains(bench.err, "! TeamSpace/red                            Contested: somebody sets spec.hard.pods"));
  CHECK(Contains(bench.folder.Read("run/memory.json"), R"("count":3)"));
  bench.runtime_folder.clear();
  pass();
  CHECK_FALSE(Contains(bench.err, "ontested"));
}

TEST_CASE("Reconcile keeps finalizers, labels, annotations, owners and quotas of others", "[app][reconcile]") {
  Bench bench;
  bench.server.Put(PathOfTeamSpace("red"),
                   R"({"kind":"TeamSpace","apiVersion":"platform.labhub.io/v1alpha1",)"
                   R"("metadata":{"name":"red","uid":"u","generation":1,"labels":{"a":"b"},)"
                   R"("finalizers":["x.example/one","y.example/two"]},"spec":{"pods":1,"cpu":"1"}})");
  bench.server.Put(
      PathOfNamespace("red"),
      R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"team-red","uid":"n","labels":{"kubernetes.io/metadata.name":)"
      R"("team-red","platform.labhub.io/teamspace":"red","a":"b"},"annotations":{"c":"d"},)"
      R"("ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"x"}]}})");
  const std::string other = PathOfNamespace("red") + "/resourcequotas/other";
  bench.server.Put(other, R"({"metadata":{"name":"other","uid":"q"},"spec":{"hard":{"pods":"1"}}})");
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/metadata/finalizers") ==
        R"(["x.example/one","y.example/two","platform.labhub.io/cleanup"])");
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/metadata/labels") == R"({"a":"b"})");
  CHECK(bench.server.At(PathOfNamespace("red"), "/metadata/labels/a") == R"("b")");
  CHECK(bench.server.At(PathOfNamespace("red"), "/metadata/annotations") == R"({"c":"d"})");
  CHECK(bench.server.At(PathOfNamespace("red"), "/metadata/ownerReferences/0/name") == R"("x")");
  CHECK(bench.server.At(PathOfNamespace("red"), "/metadata/ownerReferences/1/uid") == R"("u")");
  CHECK(bench.server.At(other, "/spec/hard") == R"({"pods":"1"})");
}

TEST_CASE("Reconcile does not touch a TeamSpace that was deleted and created anew between list and write",
          "[app][reconcile]") {
  Observation cluster;
  cluster.team_spaces = {DeletedTeamSpaceNamed("red")};
  Bench bench(cluster);
  TeamSpace anew = NewTeamSpaceNamed("red");
  anew.uid = "uid-anew";
  anew.finalizers = {std::string(kFinalizer)};
  bool raced = false;
  bench.server.before = [&](const Request& request) {
    if (request.method != Method::kGet && !std::exchange(raced, true)) bench.server.Put(anew);
  };
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/metadata/finalizers") == R"(["platform.labhub.io/cleanup"])");
  CHECK(bench.server.At(PathOfNamespace("red"), "/metadata/ownerReferences/0/uid") == R"("uid-anew")");
}

TEST_CASE("Reconcile takes a TeamSpace gone between list and write as no error", "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.team_spaces[0] = DeletedTeamSpaceNamed("red");
  Bench bench(cluster);
  bench.server.before = [&](const Request& request) {
    if (request.method != Method::kGet) bench.server.Erase(PathOfTeamSpace("red"));
  };
  CHECK(bench.Run() == ExitCode::kConverged);
}

TEST_CASE("Reconcile gives up after three passes that lost a race, and leaves the rest to the next",
          "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas[0].hard["pods"] = "99";
  Bench bench(cluster);
  bench.server.failure = {"PATCH", FailedTestAnswer()};
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.TakeWrites().size() == 3);
  CHECK(Contains(bench.err, "! TeamSpace/red "));
  CHECK(Contains(bench.err, "the server rejected our request due to an error in our request"));
  CHECK(Contains(bench.err, "1 left for the next pass; 0 writes in "));
}

TEST_CASE("Reconcile tells a refusal once, as the last try has it, however many races were lost", "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"conflict", "drifted", "freed"});
  cluster.namespaces[0] = ForeignNamespaceFor("conflict");
  cluster.namespaces[2] = ForeignNamespaceFor("freed");
  cluster.quotas[1].hard["pods"] = "99";
  Bench bench(cluster);
  bool lost = false;
  bench.server.before = [&](const Request& request) {
    if (lost || request.method != Method::kPatch || !Contains(request.path, "resourcequotas")) return;
    lost = true;
    Quota other = QuotaFor("drifted");
    other.hard["pods"] = "7";
    bench.server.Put(other);
    bench.server.Put(NamespaceFor("freed"));
  };
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CAPTURE(bench.err);
  REQUIRE(lost);
  const std::string line = "! TeamSpace/conflict ";
  const std::size_t first = bench.err.find(line);
  REQUIRE(first != std::string::npos);
  CHECK(bench.err.find(line, first + 1) == std::string::npos);
  CHECK_FALSE(Contains(bench.err, "! TeamSpace/freed "));
}

TEST_CASE("Reconcile reports a race that is lost in the third pass in a row, and tries it no more than once then",
          "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"green", "red"});
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  RememberingBench bench(cluster);
  bench.in_loop = true;
  bench.server.failure = {"PATCH " + PathOfQuota("red"), FailedTestAnswer()};
  for (int pass = 1; pass <= 2; ++pass) {
    CHECK(bench.Run() == ExitCode::kUnconverged);
    CHECK_FALSE(Contains(bench.err, "TeamSpace/red"));
  }
  bench.server.TakeWrites();
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(Contains(bench.err, "WriteFailed: the same write fails in every pass"));
  CHECK(bench.server.TakeWrites() ==
        std::vector<std::string>{"PATCH " + PathOfQuota("red"), "PATCH " + PathOfTeamSpace("red") + "/status"});
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/conditions/0/reason") == R"("WriteFailed")");
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.TakeWrites() == std::vector<std::string>{"PATCH " + PathOfQuota("red")});
  bench.server.failure.reset();
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/conditions/0/reason") == R"("Reconciled")");
}

TEST_CASE("Reconcile does not send again at once what the server changes, and forgets it once it does not",
          "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.quotas.clear();
  RememberingBench bench(cluster);
  bench.server.policy["ResourceQuota/spec/hard/pods"] = R"("2")";
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/conditions/0/reason") == R"("QuotaRefused")");
  bench.server.TakeWrites();
  for (int pass = 0; pass < 3; ++pass) {
    CHECK(bench.Run() == ExitCode::kUnconverged);
    CHECK(Contains(bench.err, "spec.hard.pods was sent as '6' and kept as '2'"));
    CHECK_FALSE(Contains(bench.err, "Contested"));
    CHECK(bench.server.TakeWrites().empty());
  }
  bench.now += std::chrono::seconds(10);
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.TakeWrites() == std::vector<std::string>{"PATCH " + PathOfQuota("red")});
  bench.server.policy.clear();
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.TakeWrites().empty());
  bench.now += std::chrono::seconds(20);
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.server.At(PathOfQuota("red"), "/spec/hard/pods") == R"("6")");
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/conditions/0/status") == R"("True")");
  CHECK(Contains(bench.folder.Read("run/memory.json"), R"("setbacks":[])"));
}

TEST_CASE("Reconcile writes a refusal once, whatever in its words varies", "[app][reconcile]") {
  Observation cluster;
  cluster.team_spaces = {NewTeamSpaceNamed("red")};
  RememberingBench bench(cluster);
  int incident = 4000;
  bench.server.before = [&](const Request&) {
    bench.server.failure = {
        "POST /api/v1/namespaces",
        StatusAnswer(403, "Forbidden",
                     R"(admission webhook \"a.b\" denied the request: incident )" + std::to_string(++incident))};
  };
  CHECK(bench.Run() == ExitCode::kUnconverged);
  const std::string message = bench.server.At(PathOfTeamSpace("red"), "/status/conditions/0/message");
  bench.server.TakeWrites();
  for (int pass = 0; pass < 3; ++pass) {
    CHECK(bench.Run() == ExitCode::kUnconverged);
    CHECK(bench.server.TakeWrites() == std::vector<std::string>{"POST /api/v1/namespaces"});
  }
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/conditions/0/message") == message);
}

TEST_CASE("Reconcile gives those behind their turn when those in front spend the server's patience",
          "[app][reconcile]") {
  Observation cluster;
  for (int i = 10; i < 40; ++i) cluster.team_spaces.push_back(NewTeamSpaceNamed("bad" + std::to_string(i)));
  cluster.team_spaces.push_back(NewTeamSpaceNamed("zz"));
  for (const bool remembers : {true, false}) {
    CAPTURE(remembers);
    RememberingBench bench(cluster);
    if (!remembers) bench.runtime_folder.clear();
    bench.server.before = [&](const Request& request) {
      const bool bad = Contains(request.path, "/teamspaces/bad") && request.method == Method::kPatch;
      bench.server.failure.reset();
      if (bad) bench.server.failure = {"PATCH", StatusAnswer(503, "ServiceUnavailable", "not now")};
    };
    int passes = 0;
    for (; passes < 20 && !bench.server.Has(PathOfNamespace("zz")); ++passes) {
      CHECK(bench.Run() == ExitCode::kUnconverged);
      bench.now += std::chrono::seconds(3);
    }
    CHECK(passes > 1);
    CHECK(passes <= (remembers ? 4 : 19));
  }
}

TEST_CASE("Reconcile tells what it has written when it can't read again after a lost race", "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"green", "red"});
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  Bench bench(cluster);
  bool lost = false;
  bench.server.before = [&](const Request& request) {
    if (request.method == Method::kGet && lost) {
      bench.server.failure = {"GET", StatusAnswer(401, "Unauthorized", "Unauthorized")};
    } else if (request.path.starts_with("/api/v1/namespaces/team-red")) {
      bench.server.failure = {"PATCH", FailedTestAnswer()};
      lost = true;
    }
  };
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CAPTURE(bench.err);
  CHECK(Contains(bench.err, "after a lost race: unauthorized"));
  CHECK(Contains(bench.err, "ResourceQuota/team-green/team-quota"));
  CHECK(Contains(bench.err, "2 team spaces: 1 changed, 1 left for the next pass; 1 write in "));
}

TEST_CASE("Reconcile says of a missing CRD how to install it", "[app][reconcile]") {
  Bench bench;
  Response no_page;
  no_page.code = 404;
  no_page.body = "404 page not found\n";
  bench.server.Erase(std::string(kCrdPath));
  bench.server.failure = {"GET " + kTeamSpaces.path(), no_page};
  CHECK(bench.Run() == ExitCode::kUnreadable);
  CHECK(bench.err == "cnpa-op: the TeamSpace CRD is not installed: cnpa-op crd | kubectl apply -f -\n");
}

TEST_CASE("Reconcile names a right that lacks once, and goes on with the rest", "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"green"});
  cluster.quotas[0].hard["pods"] = "99";
  for (const std::string name : {"blue", "red"}) cluster.team_spaces.push_back(NewTeamSpaceNamed(name));
  Bench bench(cluster);
  bench.server.failure = {
      "POST /api/v1/namespaces?",
      StatusAnswer(
          403, "Forbidden",
          R"(namespaces is forbidden: User \"cnpa-op\" cannot create resource \"namespaces\" in API group \"\")")};
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.At(PathOfQuota("green"), "/spec/hard/pods") == R"("6")");
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/conditions/0/reason") == R"("Forbidden")");
  std::size_t lines = 0;
  for (const std::string& line : LinesOf(bench.err)) lines += Contains(line, "cannot create namespaces") ? 1 : 0;
  CHECK(lines == 1);
}

TEST_CASE("Reconcile holds while the CRD is being deleted, and says it once", "[app][reconcile]") {
  Observation cluster;
  for (const std::string name : {"blue", "red"}) cluster.team_spaces.push_back(DeletedTeamSpaceNamed(name));
  Bench bench(cluster);
  bench.server.Put(std::string(kCrdPath), R"({"metadata":{"uid":"u","deletionTimestamp":"2031-05-06T07:08:09Z"}})");
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.TakeWrites() == kNone);
  CHECK(bench.folder.Names("archive").empty());
  const Lines lines = LinesOf(bench.err);
  REQUIRE(lines.size() == 2);
  CHECK(Contains(lines[0], "CrdDeleting: the TeamSpace CRD is being deleted"));
  bench.options.allow_crd_deletion = true;
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.folder.Names("archive") == std::set<std::string>{".cnpa-op.lock", "blue.json", "red.json"});
}

TEST_CASE("Reconcile keeps the finalizer on while the archive can't be written", "[app][reconcile]") {
  Observation cluster;
  for (const std::string name : {"blue", "red"}) cluster.team_spaces.push_back(DeletedTeamSpaceNamed(name));
  Bench bench(cluster);
  bench.folder.Write("archive/red.json/in-the-way", "");
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK_FALSE(bench.server.Has(PathOfTeamSpace("blue")));
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/metadata/finalizers") == R"(["platform.labhub.io/cleanup"])");
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/conditions/0/reason") == R"("ArchiveFailed")");
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status/observedGeneration") == "1");
  bench.server.TakeWrites();
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.TakeWrites() == kNone);  // The status tells it already.
}

TEST_CASE("Reconcile --diff prints what a pass would do and writes nothing", "[app][reconcile]") {
  Bench bench(BusyCluster());
  bench.options.diff = true;
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.TakeWrites() == kNone);
  CHECK(bench.folder.Names("archive").empty());
  CHECK(bench.err.empty());
  const Lines lines = LinesOf(bench.out);
  REQUIRE(lines.size() == 11);
  CHECK(lines.back() == "Plan: 3 to create, 5 to change, 1 to release.");
  REQUIRE(bench.Run() == ExitCode::kUnconverged);
  bench.options.diff = false;
  REQUIRE(bench.Run() == ExitCode::kConverged);
  bench.options.diff = true;
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.out == "No differences.\n");
}

TEST_CASE("Reconcile --diff --server asks about every change and changes nothing", "[app][reconcile]") {
  Bench bench(BusyCluster());
  bench.options.diff = true;
  bench.options.server = true;
  const std::map<std::string, std::string> before = bench.server.objects();
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.objects() == before);
  CHECK(bench.folder.Names().empty());
  CHECK(bench.err.empty());
  std::size_t writes = 0;
  for (const Request& request : bench.server.requests) {
    if (request.method == Method::kGet) continue;
    ++writes;
    CHECK(Contains(request.path, "dryRun=All"));
  }
  CHECK(writes == 7);
  const Lines lines = LinesOf(bench.out);
  REQUIRE(lines.size() == 13);
  CHECK(Contains(bench.out, "not checked: namespace team-new is not created yet\n"));
  CHECK(Contains(bench.out, "not checked: ResourceQuota/team-scoped/team-quota is still there\n"));
  CHECK(lines.back() == "Plan: 3 to create, 5 to change, 1 to release. The server accepts 7; 2 not checked.");
}

TEST_CASE("Reconcile --diff --server tells what the server refuses, in its words", "[app][reconcile]") {
  Bench bench(BusyCluster());
  bench.options.diff = true;
  bench.options.server = true;
  bench.server.failure = {"POST /api/v1/namespaces", StatusAnswer(403, "Forbidden", "the policy says no")};
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(Contains(bench.out, "the server refuses it: POST /api/v1/namespaces: 403 Forbidden: the policy says no\n"));
  CHECK(Contains(bench.out, " The server accepts 6, refuses 1; 2 not checked.\n"));
}

TEST_CASE("Reconcile --only touches the named team spaces only", "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"blue", "green", "red"});
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  Bench bench(cluster);
  bench.options.only = {"red", "blue"};
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.server.At(PathOfQuota("red"), "/spec/hard/pods") == R"("6")");
  CHECK(bench.server.At(PathOfQuota("green"), "/spec/hard/pods") == R"("99")");
  CHECK(Contains(bench.err, "2 team spaces: 2 changed; 2 writes in "));
  bench.options.only = {"nobody"};
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.err == "cnpa-op: --only: there is no TeamSpace 'nobody'\n");
  bench.options.only = {"nobody", "green"};
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.At(PathOfQuota("green"), "/spec/hard/pods") == R"("99")");
}

TEST_CASE("Reconcile --only in the loop warns of a name that nobody has, and sees to the others", "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"blue", "green"});
  for (Quota& quota : cluster.quotas) quota.hard["pods"] = "99";
  Bench bench(cluster);
  bench.in_loop = true;
  bench.options.only = {"gone", "blue", "to-come"};
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.server.At(PathOfQuota("blue"), "/spec/hard/pods") == R"("6")");
  CHECK(bench.server.At(PathOfQuota("green"), "/spec/hard/pods") == R"("99")");
  CHECK(Contains(bench.err, "1 team space: 1 changed; 1 write in "));
  CHECK(Contains(bench.err, "cnpa-op: warning: --only: there is no TeamSpace 'gone'\n"));
  CHECK(Contains(bench.err, "cnpa-op: warning: --only: there is no TeamSpace 'to-come'\n"));
  // None of them: the cluster was read all the same.
  bench.server.TakeWrites();
  bench.options.only = {"gone"};
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.server.TakeWrites() == kNone);
}

TEST_CASE("Reconcile tells of many that are refused for one reason in two lines", "[app][reconcile]") {
  Observation cluster;
  for (int i = 10; i < 35; ++i) {
    TeamSpace bad = TeamSpaceNamed("bad" + std::to_string(i));
    bad.cpu = "lots";
    cluster.team_spaces.push_back(bad);
  }
  Bench bench(cluster);
  CHECK(bench.Run() == ExitCode::kUnconverged);
  Lines lines = LinesOf(bench.err);
  std::erase_if(lines, [](const std::string& line) { return line.starts_with('~'); });  // It says so in the status.
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("! TeamSpace/bad"));
  CHECK(lines[1].starts_with("! 24 more team spaces "));
  CHECK(lines[2].starts_with("25 team spaces: 25 refused; 25 writes in "));
}

TEST_CASE("Reconcile warns of a CRD without conditions, and converges", "[app][reconcile]") {
  Observation cluster;
  cluster.team_spaces = {NewTeamSpaceNamed("red")};
  Bench bench(cluster);
  bench.server.Put(std::string(kCrdPath),
                   R"({"metadata":{"uid":"u"},"spec":{"versions":[{"name":"v1alpha1","subresources":{"status":{}},)"
                   R"("schema":{"openAPIV3Schema":{"properties":{"status":{"properties":{"namespace":{},)"
                   R"("observedGeneration":{}}}}}}}]}})");
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.server.At(PathOfTeamSpace("red"), "/status") == R"({"observedGeneration":1,"namespace":"team-red"})");
  CHECK(Contains(bench.err, "has no status.conditions"));
  bench.server.TakeWrites();
  CHECK(bench.Run() == ExitCode::kConverged);
  CHECK(bench.server.TakeWrites() == kNone);
  CHECK(bench.err.empty());
}

TEST_CASE("Reconcile finds out that the status subresource is gone before it writes to it", "[app][reconcile]") {
  Observation cluster = ConvergedCluster({"red"});
  cluster.team_spaces[0].generation = 2;
  cluster.team_spaces[0].pods = 5;
  Bench bench(cluster);
  bench.server.Put(std::string(kCrdPath),
                   R"({"metadata":{"uid":"u"},"spec":{"versions":[{"name":"v1alpha1","schema":{"openAPIV3Schema":)"
                   R"({"x-kubernetes-preserve-unknown-fields":true}}}]}})");
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(Contains(bench.err, "CrdUnfit: the TeamSpace CRD has no status subresource"));
  CHECK(bench.server.TakeWrites() == std::vector<std::string>{"PATCH " + PathOfQuota("red")});
  CHECK(bench.Run() == ExitCode::kUnconverged);
  CHECK(bench.server.TakeWrites() == kNone);
}

TEST_CASE("Reconcile lets the owner of the credentials explain an error", "[app][reconcile]") {
  FakeApiServer server;
  server.failure = {"GET ", StatusAnswer(401, "Unauthorized", "Unauthorized")};
  Options options;
  options.concurrency = 1;
  Archive archive("");
  const Log log(LogLevel::kInfo, LogFormat::kText);
  const ReconcileContext context{.options = options,
                                 .log = log,
                                 .archive = archive,
                                 .now = [] { return kNow; },
                                 .explain =
                                     [](Error error) {
                                       error.message += ": expired";
                                       return error;
                                     }};
  CapturedStream captured(stderr);
  CHECK(Reconcile(server, context).code == ExitCode::kUnreadable);
  CHECK(captured.Text() == "cnpa-op: unauthorized: the server refuses our credentials: expired\n");
}

}  // namespace
}  // namespace cnpa
