// SPDX-License-Identifier: Apache-2.0
#include "app/metrics/metrics_file.h"

#include <fcntl.h>
#include <utility>

#include "app/metrics/metrics_text.h"
#include "base/file.h"
#include "base/version.h"

namespace cnpa {
namespace {

constexpr std::size_t kLargestBytes = std::size_t{1} << 20U;  // Ours have some 8,000.

/// Returns what the file has; nothing when it is not there.
///
/// Errors:  kInvalid: it is no file, or can't be read.
Result<std::string> ReadEarlier(const std::string& path) {
  const std::string folder = FolderOf(path);
  const UniqueFd folder_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd) return std::string();  // Writing it will tell.
  FileFacts facts{.is_regular = true};
  Result<std::string> text = ReadFileAt(folder_fd.get(), folder, NameOf(path), kLargestBytes, &facts);
  if (!facts.is_regular) return Fail(ErrorCode::kInvalid, "'" + path + "' is not a file");
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

}  // namespace

Status MetricsFile::Load() {
  const Result<std::string> text = ReadEarlier(path_);
  if (!text) return Annotate(Error(text.error()), "no metrics are written");
  if (!text->empty() && !text->starts_with(kMetricsMark)) {
    // A slip of the hand must not cost somebody a file.
    return Fail(ErrorCode::kInvalid, "no metrics are written: '" + path_ + "' is there and was not written by cnpa-op");
  }
  metrics_ = Metrics{};
  if (text->empty()) return {};
  const Result<Metrics> earlier = ParseMetrics(*text);
  if (!earlier) return Fail(ErrorCode::kMalformed, "'" + path_ + "' is " + earlier.error().message + ": started anew");
  metrics_ = *earlier;
  return {};
}

Status MetricsFile::Add(const FinishedPass& pass) {
  if (path_.empty()) return {};
  Status loaded;
  if (!metrics_) loaded = Load();
  if (!metrics_) return loaded;
  metrics_->Add(pass);
  if (Status written = ReplaceFile(path_, RenderMetrics(*metrics_, kVersion)); !written) return written;
  return loaded;
}

}  // namespace cnpa
