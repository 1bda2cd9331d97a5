// SPDX-License-Identifier: Apache-2.0
//
// What goes to stderr, one line each: diagnostics, and the lines of a pass on what it did.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"

namespace cnpa {

enum class LogLevel { kError, kWarn, kInfo, kDebug };
enum class LogFormat { kAuto, kText, kJson, kJournal };

/// What a line is about, for machines; empty where it is about nothing of the kind.
struct LogFields {
  std::string team_space;
  std::string object;  ///< "ResourceQuota/team-red/team-quota"
  std::string reason;
  std::string verb{};   ///< "create", "update", "delete", "archive": what was done to it.
  std::string field{};  ///< "spec.hard.pods"; of several there is a list, and in the next two one of the same order.
  std::string from{};
  std::string to{};
  bool operator==(const LogFields&) const = default;
};

struct LogEntry {
  LogLevel level = LogLevel::kInfo;
  bool is_message = false;  ///< Comes behind our name; a line of a pass stands for itself.
  std::string text;
  /// What is wrong until it is mended: the same in each pass in which it is wrong. Empty: this happened, once.
  std::string trouble;
  LogFields fields;
  std::chrono::seconds lasts{0};  ///< So long a trouble is not over yet, although no pass says it any more.
  bool operator==(const LogEntry&) const = default;
};

class Log {
 public:
  using Sink = std::function<void(const LogEntry&)>;

  /// Writes to stderr; `format` kAuto becomes kJournal when that is the journal, else kText.
  Log(LogLevel level, LogFormat format);

  /// Gives what it shows to `sink`, and writes nothing; `format` is what becomes of it there.
  Log(LogLevel level, LogFormat format, Sink sink) : level_(level), format_(format), sink_(std::move(sink)) {}

  void Error(std::string_view message) const { Write({LogLevel::kError, true, std::string(message), {}, {}}); }
  void Warn(std::string_view message) const { Write({LogLevel::kWarn, true, std::string(message), {}, {}}); }
  void Info(std::string_view message) const { Write({LogLevel::kInfo, true, std::string(message), {}, {}}); }
  void Debug(std::string_view message) const {
    if (shows(LogLevel::kDebug)) Write({LogLevel::kDebug, true, std::string(message), {}, {}});
  }

  /// Writes an entry; a line of a pass as it is, with its colours if it has any.
  void Write(const LogEntry& entry) const;

  /// From now on sends entries to the journal with their fields, when stderr is the journal. Only for what runs long:
  /// the journal can't tell which unit a process belonged to that has ended meanwhile.
  void SendFields();

  /// From now on begins each line with the time of day, if it goes to a terminal: for what runs long. The journal has
  /// times of its own.
  void ShowTimes() { timed_ = on_terminal(); }

  /// Returns whether people read along: stderr is a terminal, and lines are text.
  bool on_terminal() const;

  bool shows(LogLevel level) const { return level <= level_; }
  LogLevel level() const { return level_; }
  LogFormat format() const { return format_; }

 private:
  LogLevel level_;
  LogFormat format_;
  Sink sink_;
  UniqueFd journal_;
  bool timed_ = false;
};

/// Returns whether `fd` is the stream that $JOURNAL_STREAM names.
///
/// Source:  systemd.exec(5), JOURNAL_STREAM.
bool IsJournal(int fd, const char* journal_stream);

/// Returns an entry as the journal takes it, a field a line.
///
/// Source:  systemd, Native Journal Protocol.
std::string JournalDatagram(const LogEntry& entry);

}  // namespace cnpa
