// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "app/check/check_parts.h"
#include "app/render/render.h"
#include "app/stages/crd_state.h"
#include "base/text.h"
#include "core/objects/objects.h"
#include "core/permissions/grant.h"
#include "core/permissions/unauthorized.h"

namespace cnpa {
namespace {

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(separator)) + part;
  return text;
}

std::string GrantAdviceFor(const Known<UserInfo>& user) {
  return GrantAdvice(user && *user ? (*user)->username : "");
}

/// What can't be known: a warning where only the permission to ask is missing, or the server is too old to be asked.
Check Unknown(CheckKind kind, const Error& error, std::string remedy) {
  const bool mild = error.code == ErrorCode::kDenied || error.code == ErrorCode::kNotFound;
  return {.kind = kind,
          .status = mild ? CheckStatus::kWarn : CheckStatus::kFail,
          .detail = "unknown: " + error.message,
          .remedy = std::move(remedy)};
}

/// How we know that the server is the one: "its certificate is verified by the kubeconfig's CA".
std::string VerificationWords(const Connection& connection) {
  if (connection.insecure_skip_tls_verify) return "its certificate is not verified";
  const std::string name =
      connection.tls_server_name.empty() ? "" : fmt::format(", for the name {},", connection.tls_server_name);
  const char* by = connection.authorities.empty()                     ? "the system's CAs"
                   : connection.origin.starts_with("service account") ? "the service account's CA"
                                                                      : "the kubeconfig's CA";
  return fmt::format("its certificate{} is verified by {}", name, by);
}

/// The verbs of one resource: "list, watch, patch", "create; list, watch, patch, delete of team-quota".
class Verbs {
 public:
  void Add(const Right& right) {
    if (!verbs_.empty() && right.name != name_) verbs_ = text() + ";";
    if (!verbs_.empty()) verbs_ += verbs_.back() == ';' ? " " : ", ";
    verbs_ += right.verb;
    name_ = right.name;
  }
  std::string text() const { return name_.empty() ? verbs_ : fmt::format("{} of {}", verbs_, name_); }
  bool empty() const { return verbs_.empty(); }

 private:
  std::string verbs_;
  std::string_view name_;  ///< Of the last one.
};

/// Judges the rights from `begin` to `end` of kLeastRights, which are on one resource.
Check CheckRightsOnOne(const Survey& survey, std::size_t begin, std::size_t end) {
  Check check{.kind = CheckKind::kRights, .subject = std::string(kLeastRights[begin].resource)};
  Verbs has;
  Verbs missing;
  bool needed = false;
  std::string_view without;
  for (std::size_t i = begin; i < end; ++i) {
    const Result<bool>& allowed = *survey.rights[i];
    if (!allowed) {
      Check unknown =
          Unknown(CheckKind::kRights, allowed.error(), "ask as an administrator: kubectl auth can-i --list --as USER");
      unknown.subject = check.subject;
      return unknown;
    }
    (*allowed ? has : missing).Add(kLeastRights[i]);
    if (*allowed) continue;
    without = kLeastRights[i].without;
    needed = needed || without.empty();
  }
  check.detail = has.text();
  if (missing.empty()) return check;
  check.status = needed ? CheckStatus::kFail : CheckStatus::kWarn;
  check.detail = "missing " + missing.text() + (has.empty() ? "" : " (granted: " + has.text() + ")");
  if (!needed) check.detail += fmt::format("; {}", without);
  check.remedy = GrantAdviceFor(survey.user);
  if (without == kWithoutEvents) check.remedy += ", or --no-events";
  return check;
}

}  // namespace

Check CheckServer(const Survey& survey) {
  if (!survey.version) return NotChecked(CheckKind::kServer);
  Check check{.kind = CheckKind::kServer};
  const Result<std::string>& version = *survey.version;
  if (!version && version.error().code != ErrorCode::kDenied) {
    check.status = CheckStatus::kFail;
    check.detail = version.error().message;
    check.remedy = "see that the API server runs, and that the kubeconfig's cluster entry is right";
    if (version.error().code == ErrorCode::kNotFound) {
      check.detail += fmt::format(": no Kubernetes API server answers at {}", survey.connection->server);
      check.remedy = "check 'server' in the kubeconfig, its path included";
    }
    return check;
  }
  check.detail = survey.connection->server;
  check.detail += version ? " is Kubernetes " + *version : " answers, and does not tell its version";
  if (!survey.not_ready.empty()) {
    check.status = CheckStatus::kFail;
    check.detail += ", not ready: " + Join(survey.not_ready, ", ");
    check.remedy = "wait, or see what it waits for: kubectl get --raw '/readyz?verbose'";
    return check;
  }
  if (survey.ready_is_told) check.detail += ", ready";
  check.detail += "; " + VerificationWords(*survey.connection);
  return check;
}

Check CheckIdentity(const Survey& survey) {
  if (!survey.user) return NotChecked(CheckKind::kIdentity);
  Check check{.kind = CheckKind::kIdentity};
  if (!*survey.user) {
    const Error& error = survey.user->error();
    if (!IsUnauthorized(error)) return Unknown(CheckKind::kIdentity, error, "see who it is: kubectl auth whoami");
    check.status = CheckStatus::kFail;
    check.detail = error.message;
    check.remedy = "give its user a client certificate or a token that this cluster takes";
    return check;
  }
  const UserInfo& user = **survey.user;
  check.detail = fmt::format("user \"{}\"", user.username);
  if (!user.groups.empty()) check.detail += ", groups " + Join(user.groups, ", ");
  if (user.username == "system:anonymous") {
    check.status = CheckStatus::kFail;
    check.detail += ": the server took no credentials from us";
    check.remedy = "give its user a client certificate or a token that this cluster takes";
  } else if (std::find(user.groups.begin(), user.groups.end(), "system:masters") != user.groups.end()) {
    check.status = CheckStatus::kWarn;
    check.detail += ": has all rights";
    check.remedy =
        "give it a user of its own: cnpa-op rbac | kubectl apply -f -, and a kubeconfig with a client certificate of "
        "CN=cnpa-op, or rbac --serviceaccount NS:NAME and the token of: kubectl create token NAME -n NS";
  }
  return check;
}

Check CheckCrd(const Survey& survey) {
  if (!survey.crd) return NotChecked(CheckKind::kCrd);
  Check check{.kind = CheckKind::kCrd};
  if (!*survey.crd) {
    const Error& error = survey.crd->error();
    if (error.code != ErrorCode::kNotFound) return Unknown(CheckKind::kCrd, error, GrantAdviceFor(survey.user));
    check.status = CheckStatus::kFail;
    check.detail = error.message;
    check.remedy = kApplyCrd;
    return check;
  }
  const CrdReport& crd = **survey.crd;
  const std::vector<std::string> faults = CrdFaults(crd);
  check.detail = "teamspaces.platform.labhub.io ";
  if (!faults.empty()) {
    check.status = CheckStatus::kFail;
    check.detail += Join(faults, ", ");
    check.remedy = CrdRemedy(crd);
  } else if (!crd.has_schema) {
    check.status = CheckStatus::kWarn;
    check.detail += "v1alpha1 is served; its schema could not be compared: no permission to get the CRD";
    check.remedy = GrantAdviceFor(survey.user);
  } else if (!crd.has_conditions) {
    check.status = CheckStatus::kWarn;
    check.detail += "has no status.conditions, so nobody can be told why a team space is not ready";
    check.remedy = kApplyCrd;
  } else if (!crd.has_namespace_uid) {
    check.status = CheckStatus::kWarn;
    check.detail +=
        "has no status.namespaceUID, so a namespace that loses both its label and its ownerReference is not recognized";
    check.remedy = kApplyCrd;
  } else {
    check.detail += "v1alpha1 is established, and has all fields";
  }
  return check;
}

std::vector<Check> CheckRights(const Survey& survey) {
  if (survey.rights.empty() || !survey.rights.front()) return {NotChecked(CheckKind::kRights)};
  std::vector<Check> checks;
  for (std::size_t begin = 0; begin < kLeastRights.size();) {
    std::size_t end = begin;
    while (end < kLeastRights.size() && kLeastRights[end].resource == kLeastRights[begin].resource) ++end;
    if (survey.rights[begin]) checks.push_back(CheckRightsOnOne(survey, begin, end));
    begin = end;
  }
  return checks;
}

Check CheckLists(const Survey& survey) {
  if (!survey.lists) return NotChecked(CheckKind::kLists);
  const Result<ListSizes>& sizes = *survey.lists;
  if (!sizes) {
    return {.kind = CheckKind::kLists,
            .status = CheckStatus::kFail,
            .detail = sizes.error().message,
            .remedy = "until then each pass ends with code 3 and writes nothing"};
  }
  return {.kind = CheckKind::kLists,
          .detail = fmt::format("{}, {} and {} can be read", Count(sizes->team_spaces, "TeamSpace"),
                                Count(sizes->namespaces, "team namespace"), Count(sizes->quotas, "quota"))};
}

}  // namespace cnpa
