// SPDX-License-Identifier: Apache-2.0
#include "app/check.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "core/objects.h"
#include "kube/certificate.h"

namespace cnpa {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr days kExpiresSoon{14};
constexpr milliseconds kLargestClockDifference{5000};
constexpr unsigned kModeOfOthers = 077;
constexpr std::string_view kApplyCrd = "cnpa-op crd | kubectl apply -f -";
constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(separator)) + part;
  return text;
}

/// Returns `text` as a shell takes it for one word.
std::string ShellWord(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:@%+=,").find(c) != std::string_view::npos;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Returns "12.3 GiB", in the largest unit of which there is one.
std::string FormatBytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.{}f} {}", amount, unit == 0 ? 0 : 1, kUnits[unit]);
}

/// Returns the command that gives the rights to who we are; to the usual user where that is not known.
std::string GrantCommand(const Answer<UserInfo>& user) {
  std::string whom;
  if (user && *user && (*user)->username != kFieldManager) {
    const std::string& name = (*user)->username;
    whom = name.starts_with(kServiceAccountPrefix)
               ? "--serviceaccount " + ShellWord(name.substr(kServiceAccountPrefix.size())) + " "
               : "--user " + ShellWord(name) + " ";
  }
  return "cnpa-op rbac " + whom + "| kubectl apply -f -";
}

Check NotChecked(CheckKind kind) {
  return {.kind = kind, .status = CheckStatus::kNotChecked, .detail = "not checked"};
}

/// What can't be known: a warning where only a right to ask lacks, or the server is too old to be asked.
Check Unknown(CheckKind kind, const Error& error, std::string remedy) {
  const bool mild = error.code == ErrorCode::kDenied || error.code == ErrorCode::kNotFound;
  return {.kind = kind,
          .status = mild ? CheckStatus::kWarn : CheckStatus::kFail,
          .detail = "unknown: " + error.message,
          .remedy = std::move(remedy)};
}

Check CheckKubeconfig(const Survey& survey) {
  Check check{.kind = CheckKind::kKubeconfig};
  if (!survey.connection) {
    check.status = CheckStatus::kFail;
    constexpr std::string_view kSaidAlready = "kubeconfig: ";
    check.detail = survey.connection.error().message;
    if (check.detail.starts_with(kSaidAlready)) check.detail.erase(0, kSaidAlready.size());
    check.remedy = "mend it, or name another one: --kubeconfig FILE, --context NAME";
    return check;
  }
  check.detail = survey.connection->origin;
  if (survey.connection->insecure_skip_tls_verify) {
    check.status = CheckStatus::kWarn;
    check.detail += "; insecure-skip-tls-verify is set: anybody on the way can read and change what is said";
    check.remedy = "put the cluster's CA there in place of it, as certificate-authority-data";
  }
  return check;
}

Check CheckCertificate(const Validity& validity, Time now) {
  Check check{.kind = CheckKind::kCertificate};
  const std::string until = FormatTime(validity.until);
  if (now > validity.until) {
    check.detail = "the client certificate expired on " + until;
  } else if (now < validity.from) {
    check.detail = "the client certificate is valid only from " + FormatTime(validity.from);
  } else {
    check.detail =
        fmt::format("the client certificate is valid until {}, for {} more", until, FormatAge(validity.until - now));
    if (validity.until - now > kExpiresSoon) return check;
  }
  check.status = CheckStatus::kWarn;
  check.remedy = now < validity.from ? "compare the clocks, or take another certificate"
                                     : "renew it, and put the new one into the kubeconfig";
  return check;
}

/// How we know that the server is the one: "its certificate is verified by the kubeconfig's CA".
std::string VerificationWords(const Connection& connection) {
  if (connection.insecure_skip_tls_verify) return "its certificate is not verified";
  const std::string name =
      connection.tls_server_name.empty() ? "" : fmt::format(", for the name {},", connection.tls_server_name);
  const char* by = connection.ca_pem.empty()                          ? "the system's CAs"
                   : connection.origin.starts_with("service account") ? "the service account's CA"
                                                                      : "the kubeconfig's CA";
  return fmt::format("its certificate{} is verified by {}", name, by);
}

Check CheckServer(const Survey& survey) {
  if (!survey.version) return NotChecked(CheckKind::kServer);
  Check check{.kind = CheckKind::kServer};
  const Result<std::string>& version = *survey.version;
  if (!version && version.error().code != ErrorCode::kDenied) {
    check.status = CheckStatus::kFail;
    check.detail = version.error().message;
    check.remedy = "see that the API server runs, and that the kubeconfig's cluster entry is right";
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

/// What keeps the CRD from working, in words; empty when nothing does.
std::vector<std::string> CrdFaults(const CrdReport& crd) {
  std::vector<std::string> faults;
  if (crd.deleting) faults.emplace_back("is being deleted, with all team spaces");
  if (!crd.served) faults.emplace_back("does not serve v1alpha1");
  if (!crd.established) faults.emplace_back("is not established");
  if (!crd.cluster_scoped) faults.emplace_back("is not cluster scoped");
  if (crd.served && !crd.has_status) faults.emplace_back("has no status subresource");
  faults.insert(faults.end(), crd.differences.begin(), crd.differences.end());
  return faults;
}

/// What has to go before ours can be applied: a scope and a name can't be changed, a deletion can't be taken back.
std::string CrdRemedy(const CrdReport& crd) {
  if (crd.deleting) return "wait until it is gone, then: " + std::string(kApplyCrd);
  if (crd.served && !crd.cluster_scoped) {
    return "the scope can't be changed: delete the CRD, and with it its objects, then: " + std::string(kApplyCrd);
  }
  return std::string(kApplyCrd);
}

Check CheckCrd(const Survey& survey) {
  if (!survey.crd) return NotChecked(CheckKind::kCrd);
  Check check{.kind = CheckKind::kCrd};
  if (!*survey.crd) {
    const Error& error = survey.crd->error();
    if (error.code != ErrorCode::kNotFound) return Unknown(CheckKind::kCrd, error, GrantCommand(survey.user));
    check.status = CheckStatus::kFail;
    check.detail = "the TeamSpace CRD is not installed";
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
    check.detail += "v1alpha1 is served; its schema could not be compared: the right to read the CRD lacks";
    check.remedy = GrantCommand(survey.user);
  } else if (!crd.has_conditions) {
    check.status = CheckStatus::kWarn;
    check.detail += "has no status.conditions, so nobody can be told why a team space is not ready";
    check.remedy = kApplyCrd;
  } else {
    check.detail += "v1alpha1 is established, and has all fields";
  }
  return check;
}

/// The verbs of one resource: "list, patch", "create; list, patch, delete of team-quota".
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
  Verbs lacks;
  bool needed = false;
  for (std::size_t i = begin; i < end; ++i) {
    const Result<bool>& allowed = *survey.rights[i];
    if (!allowed) {
      Check unknown =
          Unknown(CheckKind::kRights, allowed.error(), "ask as an administrator: kubectl auth can-i --list --as USER");
      unknown.subject = check.subject;
      return unknown;
    }
    (*allowed ? has : lacks).Add(kLeastRights[i]);
    needed = needed || (!*allowed && kLeastRights[i].needed);
  }
  check.detail = has.text();
  if (lacks.empty()) return check;
  check.status = needed ? CheckStatus::kFail : CheckStatus::kWarn;
  check.detail = "lacks " + lacks.text() + (has.empty() ? "" : "; has " + has.text());
  if (!needed) check.detail += "; does with what discovery tells, which may be out of date";
  check.remedy = GrantCommand(survey.user);
  return check;
}

void AddRights(const Survey& survey, std::vector<Check>& checks) {
  if (survey.rights.empty() || !survey.rights.front()) {
    checks.push_back(NotChecked(CheckKind::kRights));
    return;
  }
  for (std::size_t begin = 0; begin < kLeastRights.size();) {
    std::size_t end = begin;
    while (end < kLeastRights.size() && kLeastRights[end].resource == kLeastRights[begin].resource) ++end;
    checks.push_back(CheckRightsOnOne(survey, begin, end));
    begin = end;
  }
}

Check CheckArchive(const Survey& survey) {
  Check check{.kind = CheckKind::kArchive, .status = CheckStatus::kFail};
  if (survey.archive_folder.empty()) {
    check.detail =
        "there is none, so a deleted TeamSpace would wait for ever: in a pod, and without a home folder, nothing "
        "outlives us unless somebody says where";
    check.remedy = "give one that lasts, on a volume: --archive DIR";
    return check;
  }
  if (!survey.archive) {
    const Error& error = survey.archive.error();
    check.detail = error.message;
    check.remedy = error.code == ErrorCode::kNotFound
                       ? "mkdir -p " + ShellWord(FolderOf(survey.archive_folder))
                       : std::string("mend the folder for this user, or give another one: --archive DIR");
    return check;
  }
  const ArchiveState& state = *survey.archive;
  const std::string room = state.free_bytes ? ", " + FormatBytes(*state.free_bytes) + " free" : "";
  if (state.free_bytes == std::uint64_t{0}) {
    check.detail = fmt::format("'{}' is on a disk without free space", survey.archive_folder);
    check.remedy = "make room, or give another folder: --archive DIR";
  } else if (!state.there) {
    check.status = CheckStatus::kOk;
    check.detail = fmt::format("'{}' is not there yet; the first archive makes it, in '{}'{}", survey.archive_folder,
                               state.looked_at, room);
  } else {
    const bool open = (state.mode & kModeOfOthers) != 0;
    check.status = open ? CheckStatus::kWarn : CheckStatus::kOk;
    check.detail = fmt::format("'{}' is writable, mode {:04o}{}{}", survey.archive_folder, state.mode,
                               state.foreign ? ", of another user, who will own the archives" : "", room);
    if (open) check.detail += ": others than its owner may get in";
    if (open) check.remedy = "chmod 700 " + ShellWord(survey.archive_folder);
  }
  return check;
}

/// The server's clock reads `date` for a whole second, somewhere between `sent` and `received` of ours: so the
/// difference is known to within the round trip and that second.
Check CheckClock(const Survey& survey) {
  if (!survey.clock) return NotChecked(CheckKind::kClock);
  Check check{.kind = CheckKind::kClock};
  const ClockReading& reading = *survey.clock;
  const Result<Time> date = ParseHttpDate(reading.date);
  if (!date) {
    check.status = CheckStatus::kWarn;
    check.detail = reading.date.empty() ? "unknown: the server's answer has no date" : date.error().message;
    check.remedy = "compare them: date -u, on both machines";
    return check;
  }
  const milliseconds ahead_at_least = *date - reading.received;  // The server's clock, seen from ours.
  const milliseconds ahead_at_most = *date + seconds(1) - reading.sent;
  const milliseconds least = std::max(ahead_at_least, -ahead_at_most);
  if (least <= kLargestClockDifference) {
    const milliseconds most = std::max(ahead_at_most, -ahead_at_least);
    check.detail = fmt::format("the same as the server's to within {} s", std::chrono::ceil<seconds>(most).count());
    return check;
  }
  check.status = CheckStatus::kWarn;
  check.detail =
      fmt::format("{} {} the server's: certificates may seem invalid, and times in status and archives are wrong",
                  FormatDuration(least), ahead_at_least > milliseconds(0) ? "behind" : "ahead of");
  check.remedy = "timedatectl set-ntp true, on the machine whose clock is wrong";
  return check;
}

}  // namespace

std::string_view CheckKindName(CheckKind kind) {
  switch (kind) {
    case CheckKind::kKubeconfig: return "kubeconfig";
    case CheckKind::kCertificate: return "certificate";
    case CheckKind::kServer: return "server";
    case CheckKind::kIdentity: return "identity";
    case CheckKind::kCrd: return "crd";
    case CheckKind::kRights: return "rights";
    case CheckKind::kArchive: return "archive";
    case CheckKind::kClock: return "clock";
  }
  return "";
}

std::vector<Check> ComputeChecks(const Survey& survey) {
  std::vector<Check> checks{CheckKubeconfig(survey)};
  if (survey.connection) {
    const std::optional<Validity> validity = ReadValidity(survey.connection->certificate_pem);
    const Time now = std::chrono::floor<seconds>(survey.now);
    if (validity) checks.push_back(CheckCertificate(*validity, now));
  }
  checks.push_back(CheckServer(survey));
  checks.push_back(CheckIdentity(survey));
  checks.push_back(CheckCrd(survey));
  AddRights(survey, checks);
  checks.push_back(CheckArchive(survey));
  checks.push_back(CheckClock(survey));
  return checks;
}

ExitCode ComputeCheckCode(const std::vector<Check>& checks) {
  ExitCode code = ExitCode::kConverged;
  for (const Check& check : checks) {
    if (check.status != CheckStatus::kFail) continue;
    if (check.kind == CheckKind::kKubeconfig) return ExitCode::kUsage;
    if (check.kind == CheckKind::kServer || check.kind == CheckKind::kIdentity) return ExitCode::kUnreadable;
    code = ExitCode::kUnconverged;
  }
  return code;
}

}  // namespace cnpa
