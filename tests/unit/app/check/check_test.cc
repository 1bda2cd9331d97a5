// SPDX-License-Identifier: Apache-2.0
#include "app/check/check.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "app/check/checks.h"
#include "core/permissions/grant.h"
#include "support/catch.h"
#include "support/certificates.h"
#include "support/survey.h"

namespace cnpa {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

using Spoil = std::function<void(Survey&)>;

Error Denied(const std::string& message) {
  return {ErrorCode::kDenied, message};
}

/// Returns the one check of `kind`, on `subject` if one is given.
Check CheckOf(const Survey& survey, CheckKind kind, const std::string& subject = {}) {
  const std::vector<Check> checks = ComputeChecks(survey);
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const Check& check) {
    return check.kind == kind && (subject.empty() || check.subject == subject);
  });
  REQUIRE(found != checks.end());
  return *found;
}

Check CheckAfter(CheckKind kind, const Spoil& spoil) {
  Survey survey = GoodSurvey();
  spoil(survey);
  return CheckOf(survey, kind);
}

/// A case of one check: what was found, and what is said of it.
struct Case {
  std::string name;
  Spoil spoil;
  CheckStatus status = CheckStatus::kOk;
  std::string detail;
  std::string remedy;
};

void CheckCases(CheckKind kind, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const Check check = CheckAfter(kind, c.spoil);
      CHECK(check.status == c.status);
      CHECK(check.detail == c.detail);
      CHECK(check.remedy == c.remedy);
    }
  }
}

TEST_CASE("ComputeChecks finds nothing where all is well", "[app][check]") {
  const std::vector<Check> checks = ComputeChecks(GoodSurvey());
  std::vector<std::string> kinds;
  for (const Check& check : checks) {
    CAPTURE(check.detail);
    CHECK(check.status == CheckStatus::kOk);
    CHECK(check.remedy.empty());
    CHECK_FALSE(check.detail.empty());
    kinds.emplace_back(CheckKindName(check.kind));
  }
  CHECK(kinds == std::vector<std::string>{"kubeconfig", "server", "identity", "crd", "rights", "rights", "rights",
                                          "rights", "rights", "rights", "lists", "archive", "clock"});
  CHECK(ComputeCheckCode(checks) == ExitCode::kConverged);
}

TEST_CASE("ComputeChecks on the kubeconfig", "[app][check]") {
  CheckCases(
      CheckKind::kKubeconfig,
      {{"well", [](Survey&) {}, CheckStatus::kOk, "context \"c\", /k", ""},
       {"unreadable",
        [](Survey& s) {
          s = Survey();
          s.connection = Fail(ErrorCode::kInvalid, "kubeconfig: cannot read '/k': permission denied");
        },
        CheckStatus::kFail, "cannot read '/k': permission denied",
        "mend it, or name another one: --kubeconfig FILE, --context NAME"},
       {"a plugin that fails",
        [](Survey& s) {
          s = Survey();
          s.connection = Fail(ErrorCode::kUnavailable, "context \"c\", /k: exec plugin 'x': it ended with code 1");
        },
        CheckStatus::kFail, "context \"c\", /k: exec plugin 'x': it ended with code 1",
        "run the plugin by hand as this user, and see what it is missing"},
       {"a file that others can write",
        [](Survey& s) { s.connection->warnings = {"kubeconfig: '/k' can be written by others than its owner: chmod"}; },
        CheckStatus::kWarn, "context \"c\", /k; kubeconfig: '/k' can be written by others than its owner: chmod", ""},
       {"insecure", [](Survey& s) { s.connection->insecure_skip_tls_verify = true; }, CheckStatus::kWarn,
        "context \"c\", /k; insecure-skip-tls-verify is set: anybody on the way can read and change what is said",
        "put the cluster's CA there in place of it, as certificate-authority-data"}});
}

TEST_CASE("ComputeChecks on the client certificate", "[app][check]") {
  const auto with = [](Time from, Time until) {
    return [from, until](Survey& s) {
      s.connection->client_certificate = ClientOf(MakeIdentity({.not_before = from, .not_after = until}));
    };
  };
  const std::string renew = "renew it, and put the new one into the kubeconfig";
  CheckCases(CheckKind::kCertificate,
             {{"good for long", with(kNow, kNow + hours(24 * 14) + seconds(1)), CheckStatus::kOk,
               "the client certificate is valid until 2031-05-20T07:08:10Z, for 14d more", ""},
              {"expires within 14 days", with(kNow, kNow + hours(24 * 14)), CheckStatus::kWarn,
               "the client certificate is valid until 2031-05-20T07:08:09Z, for 14d more", renew},
              {"expired", with(kNow - hours(2), kNow - hours(1)), CheckStatus::kWarn,
               "the client certificate expired on 2031-05-06T06:08:09Z", renew},
              {"not valid yet", with(kNow + hours(1), kNow + hours(2)), CheckStatus::kWarn,
               "the client certificate is valid only from 2031-05-06T08:08:09Z",
               "compare the clocks, or take another certificate"}});
}

TEST_CASE("ComputeChecks on the server", "[app][check]") {
  const std::string is = "https://10.0.0.1:6443 is Kubernetes v1.37.2";
  CheckCases(
      CheckKind::kServer,
      {{"well", [](Survey&) {}, CheckStatus::kOk, is + ", ready; its certificate is verified by the kubeconfig's CA",
        ""},
       {"system's CAs", [](Survey& s) { s.connection->authorities = {}; }, CheckStatus::kOk,
        is + ", ready; its certificate is verified by the system's CAs", ""},
       {"a pod", [](Survey& s) { s.connection->origin = "service account, /var/run"; }, CheckStatus::kOk,
        is + ", ready; its certificate is verified by the service account's CA", ""},
       {"a name of its own", [](Survey& s) { s.connection->tls_server_name = "k.test"; }, CheckStatus::kOk,
        is + ", ready; its certificate, for the name k.test, is verified by the kubeconfig's CA", ""},
       {"insecure", [](Survey& s) { s.connection->insecure_skip_tls_verify = true; }, CheckStatus::kOk,
        is + ", ready; its certificate is not verified", ""},
       {"readiness not told", [](Survey& s) { s.ready_is_told = false; }, CheckStatus::kOk,
        is + "; its certificate is verified by the kubeconfig's CA", ""},
       {"version not told", [](Survey& s) { s.version = Result<std::string>(tl::unexpected(Denied("no"))); },
        CheckStatus::kOk,
        "https://10.0.0.1:6443 answers, and does not tell its version, ready; its certificate is verified by the "
        "kubeconfig's CA",
        ""},
       {"not ready",
        [](Survey& s) {
          s.not_ready = {"etcd", "ping"};
        },
        CheckStatus::kFail, is + ", not ready: etcd, ping",
        "wait, or see what it waits for: kubectl get --raw '/readyz?verbose'"},
       {"away",
        [](Survey& s) {
          s.version = Result<std::string>(Fail(ErrorCode::kUnavailable, "cannot reach x: connection refused"));
        },
        CheckStatus::kFail, "cannot reach x: connection refused",
        "see that the API server runs, and that the kubeconfig's cluster entry is right"},
       {"not asked", [](Survey& s) { s.version.reset(); }, CheckStatus::kNotChecked, "not checked", ""}});
}

TEST_CASE("ComputeChecks on who we are", "[app][check]") {
  const auto user = [](const UserInfo& info) { return [info](Survey& s) { s.user = Result<UserInfo>(info); }; };
  const auto fails = [](const Error& error) {
    return [error](Survey& s) { s.user = Result<UserInfo>(tl::unexpected<Error>(error)); };
  };
  const std::string credentials = "give its user a client certificate or a token that this cluster takes";
  CheckCases(
      CheckKind::kIdentity,
      {{"well", [](Survey&) {}, CheckStatus::kOk, "user \"cnpa-op\", groups system:authenticated", ""},
       {"without groups", user({"u", {}}), CheckStatus::kOk, "user \"u\"", ""},
       {"all rights", user({"admin", {"system:masters", "b"}}), CheckStatus::kWarn,
        "user \"admin\", groups system:masters, b: has all rights",
        "give it a user of its own: cnpa-op rbac | kubectl apply -f -, and a kubeconfig with a client certificate of "
        "CN=cnpa-op, or rbac --serviceaccount NS:NAME and the token of: kubectl create token NAME -n NS"},
       {"nobody", user({"system:anonymous", {"system:unauthenticated"}}), CheckStatus::kFail,
        "user \"system:anonymous\", groups system:unauthenticated: the server took no credentials from us",
        credentials},
       {"refused", fails(Denied("unauthorized: the server refuses our credentials")), CheckStatus::kFail,
        "unauthorized: the server refuses our credentials", credentials},
       {"not told", fails(Denied("forbidden: no")), CheckStatus::kWarn, "unknown: forbidden: no",
        "see who it is: kubectl auth whoami"},
       {"an old server", fails({ErrorCode::kNotFound, "POST /x: 404 without a body"}), CheckStatus::kWarn,
        "unknown: POST /x: 404 without a body", "see who it is: kubectl auth whoami"},
       {"cut off", fails({ErrorCode::kUnavailable, "cannot reach x"}), CheckStatus::kFail, "unknown: cannot reach x",
        "see who it is: kubectl auth whoami"},
       {"not asked", [](Survey& s) { s.user.reset(); }, CheckStatus::kNotChecked, "not checked", ""}});
}

TEST_CASE("ComputeChecks on the CRD", "[app][check]") {
  const auto crd = [](const std::function<void(CrdReport&)>& change) {
    return [change](Survey& s) { change(**s.crd); };
  };
  const std::string name = "teamspaces.platform.labhub.io ";
  const std::string apply = "cnpa-op crd | kubectl apply -f -";
  CheckCases(
      CheckKind::kCrd,
      {{"well", [](Survey&) {}, CheckStatus::kOk, name + "v1alpha1 is established, and has all fields", ""},
       {"missing",
        [](Survey& s) { s.crd = Result<CrdReport>(Fail(ErrorCode::kNotFound, "the TeamSpace CRD is not installed")); },
        CheckStatus::kFail, "the TeamSpace CRD is not installed", apply},
       {"deleting", crd([](CrdReport& r) { r.deleting = true; }), CheckStatus::kFail,
        name + "is being deleted, with all team spaces",
        "to keep the namespaces, save the TeamSpaces (kubectl get ts -o yaml), take the ownerReferences off "
        "their namespaces, make a pass with --allow-crd-deletion, then apply the CRD and the TeamSpaces again"},
       {"not established", crd([](CrdReport& r) {
          r.established = false;
          r.refusal = "\"ts\" is already in use";
        }),
        CheckStatus::kFail, name + "is not established (\"ts\" is already in use)",
        "another CRD has that name, and must give it up: kubectl get crd | grep labhub.io"},
       {"another version", crd([](CrdReport& r) {
          r.served = r.has_status = false;
          r.served_versions = {"v1beta1", "v1"};
        }),
        CheckStatus::kFail, name + "does not serve v1alpha1 (but v1beta1, v1)",
        "serve v1alpha1 as well, as cnpa-op crd prints it: kubectl edit crd teamspaces.platform.labhub.io"},
       {"no version", crd([](CrdReport& r) { r.served = r.has_status = false; }), CheckStatus::kFail,
        name + "does not serve v1alpha1", apply},
       {"namespaced", crd([](CrdReport& r) { r.cluster_scoped = false; }), CheckStatus::kFail,
        name + "is not cluster scoped",
        "the scope can't be changed: delete the CRD, and with it its objects, then: " + apply},
       {"no status", crd([](CrdReport& r) { r.has_status = false; }), CheckStatus::kFail,
        name + "has no status subresource", apply},
       {"fields", crd([](CrdReport& r) {
          r.differences = {"a is missing", "b is string, not integer"};
        }),
        CheckStatus::kFail, name + "a is missing, b is string, not integer", apply},
       {"no conditions", crd([](CrdReport& r) { r.has_conditions = false; }), CheckStatus::kWarn,
        name + "has no status.conditions, so nobody can be told why a team space is not ready", apply},
       {"no namespaceUID", crd([](CrdReport& r) { r.has_namespace_uid = false; }), CheckStatus::kWarn,
        name + "has no status.namespaceUID, so a namespace that loses both its label and its ownerReference is not "
               "recognized",
        apply},
       {"from discovery", crd([](CrdReport& r) { r.has_schema = false; }), CheckStatus::kWarn,
        name + "v1alpha1 is served; its schema could not be compared: no permission to get the CRD",
        "cnpa-op rbac | kubectl apply -f -"},
       {"not told", [](Survey& s) { s.crd = Result<CrdReport>(tl::unexpected(Denied("no"))); }, CheckStatus::kWarn,
        "unknown: no", "cnpa-op rbac | kubectl apply -f -"},
       {"not asked", [](Survey& s) { s.crd.reset(); }, CheckStatus::kNotChecked, "not checked", ""}});
}

TEST_CASE("ComputeChecks names each missing permission, in the line of its resource", "[app][check]") {
  for (std::size_t i = 0; i < kLeastRights.size(); ++i) {
    const Right& right = kLeastRights.at(i);
    DYNAMIC_SECTION(right.verb << " " << right.resource) {
      Survey survey = GoodSurvey();
      survey.rights[i] = Result<bool>(false);
      std::vector<Check> spoilt;
      for (const Check& check : ComputeChecks(survey)) {
        if (check.status != CheckStatus::kOk) spoilt.push_back(check);
      }
      REQUIRE(spoilt.size() == 1);
      CHECK(spoilt.front().subject == right.resource);
      CHECK(spoilt.front().detail.starts_with("missing " + std::string(right.verb)));
      CHECK(spoilt.front().detail.ends_with(right.without));
      const std::string grant = "cnpa-op rbac | kubectl apply -f -";
      CHECK(spoilt.front().remedy == (right.resource == kEventsResource ? grant + ", or --no-events" : grant));
      CHECK((spoilt.front().status == CheckStatus::kFail) == right.without.empty());
    }
  }
}

TEST_CASE("ComputeChecks groups the verbs of one resource by the name that they are bound to", "[app][check]") {
  Survey survey = GoodSurvey();
  CHECK(CheckOf(survey, CheckKind::kRights, "resourcequotas").detail ==
        "create; list, watch, patch, delete of team-quota");
  survey.rights[RightIndex("resourcequotas", "create")] = Result<bool>(false);
  survey.rights[RightIndex("resourcequotas", "patch")] = Result<bool>(false);
  CHECK(CheckOf(survey, CheckKind::kRights, "resourcequotas").detail ==
        "missing create; patch of team-quota (granted: list, watch, delete of team-quota)");
  survey.rights[RightIndex("customresourcedefinitions", "get")] = Result<bool>(false);
  CHECK(CheckOf(survey, CheckKind::kRights, "customresourcedefinitions").detail ==
        "missing get of teamspaces.platform.labhub.io; does with what discovery tells, which may be out of date");
}

TEST_CASE("ComputeChecks does not speak of rights that were not asked for", "[app][check]") {
  Survey survey = GoodSurvey();
  const auto spoken = [&survey] {
    const std::vector<Check> checks = ComputeChecks(survey);
    return std::any_of(checks.begin(), checks.end(), [](const Check& check) { return check.subject == "events"; });
  };
  CHECK(spoken());
  for (const std::string verb : {"create", "get", "patch"}) survey.rights[RightIndex("events", verb)].reset();
  CHECK_FALSE(spoken());
}

TEST_CASE("ComputeChecks: who is missing a permission is given it by name", "[app][check]") {
  Survey survey = GoodSurvey();
  survey.user = Result<UserInfo>(UserInfo{"system:serviceaccount:ops:runner", {}});
  survey.rights.front() = Result<bool>(false);
  CHECK(CheckOf(survey, CheckKind::kRights).remedy == GrantAdvice("system:serviceaccount:ops:runner"));
}

TEST_CASE("ComputeChecks on rights that can't be asked for", "[app][check]") {
  const std::string ask = "ask as an administrator: kubectl auth can-i --list --as USER";
  CheckCases(
      CheckKind::kRights,
      {{"denied", [](Survey& s) { s.rights.front() = Result<bool>(tl::unexpected(Denied("no"))); }, CheckStatus::kWarn,
        "unknown: no", ask},
       {"cut off", [](Survey& s) { s.rights.front() = Result<bool>(Fail(ErrorCode::kUnavailable, "cannot reach x")); },
        CheckStatus::kFail, "unknown: cannot reach x", ask},
       {"not asked", [](Survey& s) { s.rights.assign(kLeastRights.size(), std::nullopt); }, CheckStatus::kNotChecked,
        "not checked", ""},
       {"no server", [](Survey& s) { s.rights.clear(); }, CheckStatus::kNotChecked, "not checked", ""}});
}

TEST_CASE("ComputeChecks on the lists of a pass", "[app][check]") {
  CheckCases(
      CheckKind::kLists,
      {{"well", [](Survey&) {}, CheckStatus::kOk, "2 TeamSpaces, 1 team namespace and 1 quota can be read", ""},
       {"unread", [](Survey& s) { s.lists = Result<ListSizes>(Fail(ErrorCode::kInvalid, "500: conversion webhook")); },
        CheckStatus::kFail, "500: conversion webhook", "until then each pass ends with code 3 and writes nothing"},
       {"not asked", [](Survey& s) { s.lists.reset(); }, CheckStatus::kNotChecked, "not checked", ""}});
}

TEST_CASE("ComputeChecks on the archive folder", "[app][check]") {
  CheckCases(
      CheckKind::kArchive,
      {{"well", [](Survey&) {}, CheckStatus::kOk, "'/a' is writable, mode 0700, 3.0 GiB free", ""},
       {"a disk that tells nothing", [](Survey& s) { s.archive->free_bytes.reset(); }, CheckStatus::kOk,
        "'/a' is writable, mode 0700", ""},
       {"another user's", [](Survey& s) { s.archive->foreign = true; }, CheckStatus::kOk,
        "'/a' is writable, mode 0700, of another user, who will own the archives, 3.0 GiB free", ""},
       {"not there yet",
        [](Survey& s) { s.archive = ArchiveState{.looked_at = "/", .mode = 0755, .free_bytes = 1023}; },
        CheckStatus::kOk, "'/a' is not there yet; the first archive makes it, in '/', 1023 bytes free", ""},
       {"open to others", [](Survey& s) { s.archive->mode = 0750; }, CheckStatus::kWarn,
        "'/a' is writable, mode 0750, 3.0 GiB free: others than its owner may get in", "chmod 700 /a"},
       {"by its group",
        [](Survey& s) {
          s.archive->mode = 02770;
          s.archive->by_group = true;
        },
        CheckStatus::kOk, "'/a' is writable, mode 2770, of another user, by the permissions of its group, 3.0 GiB free",
        ""},
       {"by its group, and open to others",
        [](Survey& s) {
          s.archive->mode = 02775;
          s.archive->by_group = true;
        },
        CheckStatus::kWarn,
        "'/a' is writable, mode 2775, of another user, by the permissions of its group, 3.0 GiB free: others than its "
        "owner may get in",
        "chmod o= /a"},
       {"a file system that has not all",
        [](Survey& s) {
          s.archive->missing = {true, true, true};
        },
        CheckStatus::kWarn,
        "'/a' is writable, mode 0700, 3.0 GiB free; its file system cannot sync a folder (a power cut may take the "
        "latest archives), has no hard links (earlier archives are kept as copies), has no locks (let only one "
        "controller write there)",
        "give a folder on a local file system, where that matters: --archive DIR"},
       {"a lock that somebody holds", [](Survey& s) { s.archive->busy = true; }, CheckStatus::kWarn,
        "'/a' is writable, mode 0700, 3.0 GiB free; another process holds its lock",
        "end that process, unless it is a pass at work: fuser -v /a/.cnpa-op.lock"},
       {"full", [](Survey& s) { s.archive->free_bytes = 0; }, CheckStatus::kFail,
        "'/a' is on a disk without free space", "make room, or give another folder: --archive DIR"},
       {"none", [](Survey& s) { s.archive_folder.clear(); }, CheckStatus::kFail,
        "there is none, so a deleted TeamSpace would wait for ever: in a pod, and without a home folder, nothing "
        "outlives us unless somebody says where",
        "give one that lasts, on a volume: --archive DIR"},
       {"no parent",
        [](Survey& s) {
          s.archive_folder = "/no one/a";
          s.archive = Fail(ErrorCode::kNotFound, "archive folder '/no one/a': no");
        },
        CheckStatus::kFail, "archive folder '/no one/a': no", "mkdir -p '/no one'"},
       {"unwritable", [](Survey& s) { s.archive = Fail(ErrorCode::kInvalid, "archive folder '/a': no"); },
        CheckStatus::kFail, "archive folder '/a': no",
        "fix the folder for this user, or give another one: --archive DIR"}});
}

TEST_CASE("ComputeChecks on the clocks: what the round trip hides is not held against them", "[app][check]") {
  const auto reads = [](milliseconds sent, milliseconds received) {
    return [sent, received](Survey& s) {
      s.clock->sent = kNow + sent;
      s.clock->received = kNow + received;
    };
  };
  const std::string means = "certificates may seem invalid, and times in status and archives are wrong";
  const std::string set = "timedatectl set-ntp true, on the machine whose clock is wrong";
  CheckCases(CheckKind::kClock,
             {{"the same", reads(milliseconds(500), milliseconds(520)), CheckStatus::kOk,
               "the same as the server's to within 1 s", ""},
              {"just within, ahead", reads(milliseconds(6000), milliseconds(6100)), CheckStatus::kOk,
               "the same as the server's to within 7 s", ""},
              {"just beyond, ahead", reads(milliseconds(6001), milliseconds(6100)), CheckStatus::kWarn,
               "5 s ahead of the server's: " + means, set},
              {"just within, behind", reads(milliseconds(-5100), milliseconds(-5000)), CheckStatus::kOk,
               "the same as the server's to within 7 s", ""},
              {"just beyond, behind", reads(milliseconds(-5100), milliseconds(-5001)), CheckStatus::kWarn,
               "5 s behind the server's: " + means, set},
              {"a day", reads(hours(24), hours(24) + milliseconds(1)), CheckStatus::kWarn,
               "23h59m ahead of the server's: " + means, set},
              {"a slow answer", reads(milliseconds(-30000), milliseconds(0)), CheckStatus::kOk,
               "the same as the server's to within 31 s", ""},
              {"no date", [](Survey& s) { s.clock->date.clear(); }, CheckStatus::kWarn,
               "unknown: the server's answer has no date", "compare them: date -u, on both machines"},
              {"garbage", [](Survey& s) { s.clock->date = "soon"; }, CheckStatus::kWarn,
               "'soon' is not a date such as Sun, 06 Nov 1994 08:49:37 GMT", "compare them: date -u, on both machines"},
              {"not asked", [](Survey& s) { s.clock.reset(); }, CheckStatus::kNotChecked, "not checked", ""}});
}

TEST_CASE("ComputeCheckCode says by what fails how far it came", "[app][check]") {
  const auto code = [](const std::vector<std::pair<CheckKind, CheckStatus>>& found) {
    std::vector<Check> checks;
    checks.reserve(found.size());
    for (const auto& [kind, status] : found) checks.push_back({.kind = kind, .status = status});
    return ComputeCheckCode(checks);
  };
  CHECK(code({{CheckKind::kCrd, CheckStatus::kWarn}}) == ExitCode::kConverged);
  CHECK(code({{CheckKind::kCrd, CheckStatus::kFail}}) == ExitCode::kUnconverged);
  CHECK(code({{CheckKind::kRights, CheckStatus::kFail}}) == ExitCode::kUnconverged);
  CHECK(code({{CheckKind::kLists, CheckStatus::kFail}}) == ExitCode::kUnconverged);
  CHECK(code({{CheckKind::kArchive, CheckStatus::kFail}}) == ExitCode::kUnconverged);
  CHECK(code({{CheckKind::kServer, CheckStatus::kFail}, {CheckKind::kArchive, CheckStatus::kFail}}) ==
        ExitCode::kUnreadable);
  CHECK(code({{CheckKind::kIdentity, CheckStatus::kFail}}) == ExitCode::kUnreadable);
  CHECK(code({{CheckKind::kKubeconfig, CheckStatus::kFail}, {CheckKind::kArchive, CheckStatus::kFail}}) ==
        ExitCode::kUsage);
}

}  // namespace
}  // namespace cnpa
