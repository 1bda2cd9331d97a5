// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics: one line each, on stderr. Results are not logged but printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cnpa {

enum class LogLevel { kError, kWarn, kInfo, kDebug };
enum class LogFormat { kAuto, kText, kJson, kJournal };

class Log {
 public:
  /// `format` kAuto becomes kJournal when stderr is the journal, else kText.
  Log(LogLevel level, LogFormat format);

  void Error(std::string_view message) const { Write(LogLevel::kError, message); }
  void Warn(std::string_view message) const { Write(LogLevel::kWarn, message); }
  void Info(std::string_view message) const { Write(LogLevel::kInfo, message); }
  void Debug(std::string_view message) const { Write(LogLevel::kDebug, message); }
  bool shows(LogLevel level) const { return level <= level_; }
  LogFormat format() const { return format_; }

 private:
  void Write(LogLevel level, std::string_view message) const;

  LogLevel level_;
  LogFormat format_;
};

/// Returns whether `fd` is the stream that $JOURNAL_STREAM names.
///
/// Source:  systemd.exec(5), JOURNAL_STREAM.
bool IsJournal(int fd, const char* journal_stream);

/// Returns `message` fit for one line of a terminal: control characters become blanks.
std::string Printable(std::string_view message);

}  // namespace cnpa
