// SPDX-License-Identifier: Apache-2.0
#include "app/stages/archive_search.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/stages/archive.h"
#include "base/file.h"
#include "kube/codec/codec_sight.h"

namespace cnpa {
namespace {

constexpr std::string_view kEnding = ".json";

/// What the files of one name begin with; so may those of a name that goes on with a dot.
std::string PrefixOf(const std::string& name) {
  const std::string file = ArchiveFileName(name, {});
  return file.substr(0, std::min(file.find(".."), file.size() - kEnding.size())) + ".";
}

std::vector<std::string> CandidatesIn(const std::string& folder, const std::string& prefix, std::error_code& error) {
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string file = entry->path().filename().string();
    if (file.starts_with(prefix) && file.ends_with(kEnding)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

ArchiveSearch FindArchives(const std::string& folder, const std::string& name) {
  ArchiveSearch search{.folder = folder, .files = {}, .problem = {}};
  if (folder.empty()) return search;
  std::error_code error;
  const std::string prefix = PrefixOf(name);
  const std::vector<std::string> candidates = CandidatesIn(folder, prefix, error);
  if (error == std::errc::no_such_file_or_directory) return search;
  const UniqueFd fd(error ? -1 : ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) {
    search.problem = "archive folder '" + folder + "': " + SystemMessage(error ? error.value() : errno);
    return search;
  }
  for (const std::string& file : candidates) {
    const Result<std::string> text = ReadFileAt(fd.get(), folder, file, kLargestFileBytes);
    Result<WriteArchive> record =
        text ? DecodeArchive(*text) : Result<WriteArchive>(tl::unexpected<Error>(text.error()));
    if (record && record->name != name) continue;
    // What can't be read may be of another name; the plain one, and those that were kept as unreadable, are of this
    // one.
    if (!record && file != name + ".json" && !file.starts_with(prefix + "unreadable.")) continue;
    std::string problem = record ? "" : record.error().message;
    search.files.push_back({file, record.value_or(WriteArchive{}), std::move(problem)});
  }
  std::sort(search.files.begin(), search.files.end(), [](const ArchiveFile& left, const ArchiveFile& right) {
    return std::pair(left.record.archived_at, left.file) > std::pair(right.record.archived_at, right.file);
  });
  return search;
}

}  // namespace cnpa
