// SPDX-License-Identifier: Apache-2.0
//
// The file that --metrics-file names. No pass remembers the one before, and nor does a cron job; so the numbers go on
// from what the file has.
#pragma once

#include <optional>
#include <string>

#include "app/metrics/metrics.h"
#include "base/result.h"

namespace cnpa {

class MetricsFile {
 public:
  /// Writes nothing when `path` is empty.
  explicit MetricsFile(std::string path) : path_(std::move(path)) {}

  /// Adds `pass` to the numbers and writes them. Those of the file are read before the first time.
  ///
  /// Errors:  kMalformed: the file was ours and could not be understood, so the numbers were started anew and written;
  ///          kInvalid: it can't be written, but the numbers are kept for the next time; or it is no file of ours, and
  ///          was left alone.
  Status Add(const FinishedPass& pass);

  const std::string& path() const { return path_; }

 private:
  Status Load();

  std::string path_;
  std::optional<Metrics> metrics_;  ///< Nothing before they are read.
};

}  // namespace cnpa
