// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "app/check/check_parts.h"
#include "base/file.h"
#include "base/shell.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::chrono::days kExpiresSoon{14};
constexpr milliseconds kLargestClockDifference{5000};
constexpr unsigned kModeOfOthers = 077;
constexpr unsigned kModeOfAll = 07;

/// Returns "12.3 GiB", in the largest unit of which there is one.
std::string FormatBytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.{}f} {}", amount, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string RoomWords(const ArchiveState& state) {
  return state.free_bytes ? ", " + FormatBytes(*state.free_bytes) + " free" : "";
}

/// Judges a folder that can be written: who else may use it, and what its file system can't do.
void DescribeFolder(const std::string& folder, const ArchiveState& state, Check& check) {
  const std::string missing = MissingWords(state.missing);
  const bool open = (state.mode & (state.by_group ? kModeOfAll : kModeOfOthers)) != 0;
  check.status = open || state.busy || !missing.empty() ? CheckStatus::kWarn : CheckStatus::kOk;
  check.detail = fmt::format("'{}' is writable, mode {:04o}{}{}", folder, state.mode,
                             state.foreign    ? ", of another user, who will own the archives"
                             : state.by_group ? ", of another user, by the permissions of its group"
                                              : "",
                             RoomWords(state));
  if (open) check.detail += ": others than its owner may get in";
  if (!missing.empty()) check.detail += "; its file system " + missing;
  if (state.busy) check.detail += "; another process holds its lock";
  if (state.busy) {
    check.remedy = "end that process, unless it is a pass at work: fuser -v " + ShellWord(folder + "/" + kArchiveLock);
  } else if (!missing.empty()) {
    check.remedy = "give a folder on a local file system, where that matters: --archive DIR";
  } else if (open) {
    check.remedy = state.by_group ? "chmod o= " + ShellWord(folder) : "chmod 700 " + ShellWord(folder);
  }
}

}  // namespace

Check CheckKubeconfig(const Survey& survey) {
  Check check{.kind = CheckKind::kKubeconfig};
  if (!survey.connection) {
    check.status = CheckStatus::kFail;
    constexpr std::string_view kSaidAlready = "kubeconfig: ";
    check.detail = survey.connection.error().message;
    if (check.detail.starts_with(kSaidAlready)) check.detail.erase(0, kSaidAlready.size());
    check.remedy = survey.connection.error().code == ErrorCode::kUnavailable
                       ? "run the plugin by hand as this user, and see what it is missing"
                       : "mend it, or name another one: --kubeconfig FILE, --context NAME";
    return check;
  }
  check.detail = survey.connection->origin;
  for (const std::string& warning : survey.connection->warnings) {
    check.status = CheckStatus::kWarn;
    check.detail += "; " + warning;
  }
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
                       : std::string("fix the folder for this user, or give another one: --archive DIR");
    return check;
  }
  const ArchiveState& state = *survey.archive;
  if (state.free_bytes == std::uint64_t{0}) {
    check.detail = fmt::format("'{}' is on a disk without free space", survey.archive_folder);
    check.remedy = "make room, or give another folder: --archive DIR";
  } else if (!state.there) {
    check.status = CheckStatus::kOk;
    check.detail = fmt::format("'{}' is not there yet; the first archive makes it, in '{}'{}", survey.archive_folder,
                               state.looked_at, RoomWords(state));
  } else {
    DescribeFolder(survey.archive_folder, state, check);
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

}  // namespace cnpa
