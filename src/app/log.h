// SPDX-License-Identifier: Apache-2.0
//
// What goes to stderr, one line each: diagnostics, and the lines of a pass on what it did.
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
  void Debug(std::string_view message) const { Write(LogLevel::kDebug, message); }

  /// Writes a line of a pass: as it is, with its colours if it has any, behind no prefix.
  void Tell(LogLevel level, std::string_view line) const;

  bool shows(LogLevel level) const { return level <= level_; }
  LogFormat format() const { return format_; }

 private:
  void Write(LogLevel level, std::string_view message) const;
  void WriteLine(LogLevel level, std::string_view message, std::string_view text) const;

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
