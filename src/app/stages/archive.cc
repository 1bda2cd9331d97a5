// SPDX-License-Identifier: Apache-2.0
#include "app/stages/archive.h"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "kube/codec/codec.h"
#include "kube/codec/codec_sight.h"

namespace cnpa {
namespace {

constexpr std::string_view kEnding = ".json";
constexpr std::string_view kUnreadable = "unreadable";
constexpr std::size_t kLongestName = 150;
constexpr std::size_t kKeptOfLongName = 100;
constexpr int kMostOfOneUid = 100;

std::string KeptFileName(std::string_view stem, std::string_view uid) {
  return fmt::format("{}.{}{}", stem, uid, kEnding);
}

/// Returns where the archive of a TeamSpace may be: where it was kept when a later one of its name came, and its own
/// place, which comes last.
std::vector<std::string> PlacesOf(const WriteArchive& record) {
  const std::string own = ArchiveFileName(record.name, record.uid);
  if (record.name.size() > kLongestName) return {own};
  return {KeptFileName(record.name, record.uid), own};
}

/// A pass that looked later has written what is there: it knows more.
bool IsNewer(const WriteArchive& there, const WriteArchive& record) {
  return std::pair(there.generation, there.archived_at) > std::pair(record.generation, record.archived_at);
}

/// Lets go of a lock at the end of a scope.
class LockRelease {
 public:
  explicit LockRelease(int fd) : fd_(fd) {}
  ~LockRelease() { ::flock(fd_, LOCK_UN); }
  LockRelease(const LockRelease&) = delete;
  LockRelease& operator=(const LockRelease&) = delete;
  LockRelease(LockRelease&&) = delete;
  LockRelease& operator=(LockRelease&&) = delete;

 private:
  int fd_;
};

}  // namespace

std::string ArchiveFileName(const std::string& name, const std::string& uid) {
  return name.size() > kLongestName ? KeptFileName(name.substr(0, kKeptOfLongName), uid) : name + std::string(kEnding);
}

std::string Archive::PathOf(const WriteArchive& record) const {
  return folder_ + "/" + ArchiveFileName(record.name, record.uid);
}

Result<Archived> Archive::Write(const WriteArchive& record) {
  if (Status opened = Open(); !opened) return tl::unexpected<Error>(std::move(opened).error());
  Result<Archived> locked = Lock();
  if (!locked || *locked == Archived::kBusy) return locked;
  const LockRelease release(lock_.get());
  // Without locks another pass may be in the midst of writing them.
  if (!swept_ && !missing_.locks) RemoveTemporaries(fd_.get());
  swept_ = true;
  return WriteLocked(record);
}

Result<Archived> Archive::WriteLocked(const WriteArchive& record) {
  const std::string file = ArchiveFileName(record.name, record.uid);
  for (const std::string& place : PlacesOf(record)) {
    const Result<std::string> text = ReadFileAt(fd_.get(), folder_, place, kLargestFileBytes);
    if (!text && text.error().code == ErrorCode::kNotFound) continue;
    if (!text) return tl::unexpected<Error>(text.error());
    const Result<WriteArchive> there = DecodeArchive(*text);
    if (there && there->name == record.name && there->uid == record.uid) return Renew(place, *text, *there, record);
    if (place != file) continue;
    Status kept = KeepEarlier(file, *text, there ? there->uid : std::string(kUnreadable));
    if (!kept) return tl::unexpected<Error>(std::move(kept).error());
  }
  if (Status written = WriteFile(file, EncodeArchive(record)); !written) {
    return tl::unexpected<Error>(std::move(written).error());
  }
  return Archived::kWritten;
}

/// Brings the archive that is there up to date: until the TeamSpace is gone, its spec may still change.
Result<Archived> Archive::Renew(const std::string& file, const std::string& text, const WriteArchive& there,
                                const WriteArchive& record) {
  WriteArchive then = record;
  then.archived_at = there.archived_at;
  if (text == EncodeArchive(then) || IsNewer(there, record)) {
    // A pass that was killed behind its rename may not have come to this.
    if (const Result<bool> synced = SyncFolder(fd_.get(), folder_); !synced) {
      return tl::unexpected<Error>(synced.error());
    }
    return Archived::kThere;
  }
  if (Status written = WriteFile(file, EncodeArchive(record)); !written) {
    return tl::unexpected<Error>(std::move(written).error());
  }
  return Archived::kWritten;
}

/// Keeps `file`, whose content is `text`, under a name of its own.
Status Archive::KeepEarlier(const std::string& file, const std::string& text, const std::string& uid) {
  // The uid is from a file, so it may be anything.
  const bool plain = uid.find_first_of("/.") == std::string::npos && uid.size() <= 64;
  const std::string_view stem = std::string_view(file).substr(0, file.size() - kEnding.size());
  const std::string base(plain ? uid : kUnreadable);
  std::string kept = KeptFileName(stem, base);
  // A second name for the same file, and not another name: at no moment is there none.
  for (int number = 2; ::linkat(fd_.get(), file.c_str(), fd_.get(), kept.c_str(), 0) != 0; ++number) {
    const int error_number = errno;
    struct stat info {};
    const bool taken = error_number == EEXIST || ::fstatat(fd_.get(), kept.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (!taken && IsLinkMissing(error_number)) {
      missing_.hard_links = true;
      return WriteFile(kept, text);
    }
    if (!taken || number > kMostOfOneUid) {
      return Fail(ErrorCode::kInvalid, fmt::format("archive folder '{}': cannot keep '{}' as '{}': {}", folder_, file,
                                                   kept, SystemMessage(error_number)));
    }
    if (HasContent(kept, text)) return {};  // An earlier pass came as far as this.
    kept = KeptFileName(stem, fmt::format("{}.{}", base, number));
  }
  return {};
}

bool Archive::HasContent(const std::string& file, const std::string& text) const {
  return ReadFileAt(fd_.get(), folder_, file, kLargestFileBytes) == text;
}

Status Archive::WriteFile(const std::string& file, const std::string& text) {
  return WriteFileDurably(fd_.get(), folder_, file, text, access_, &missing_);
}

std::string Archive::DescribeMissing() const {
  const std::string words = MissingWords(missing_);
  return words.empty() ? words : fmt::format("archive folder '{}': its file system {}", folder_, words);
}

std::string MissingWords(const MissingFeatures& missing) {
  std::vector<std::string_view> words;
  if (missing.folder_sync) words.emplace_back("cannot sync a folder (a power cut may take the latest archives)");
  if (missing.hard_links) words.emplace_back("has no hard links (earlier archives are kept as copies)");
  if (missing.locks) words.emplace_back("has no locks (let only one controller write there)");
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace cnpa
