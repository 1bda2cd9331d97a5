// SPDX-License-Identifier: Apache-2.0
#include "app/log.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/time.h"
#include "kube/json_writer.h"

namespace cnpa {
namespace {

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kError: return "error";
    case LogLevel::kWarn: return "warning";
    case LogLevel::kInfo: return "info";
    case LogLevel::kDebug: return "debug";
  }
  return "";
}

/// Source:   sd-daemon(3), syslog(3).
int JournalPriority(LogLevel level) {
  switch (level) {
    case LogLevel::kError: return 3;
    case LogLevel::kWarn: return 4;
    case LogLevel::kInfo: return 6;
    case LogLevel::kDebug: return 7;
  }
  return 6;
}

std::string JsonLine(LogLevel level, std::string_view message) {
  JsonWriter writer;
  writer.Object([&] {
    writer.String("time", FormatTime(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())));
    writer.String("level", LevelName(level));
    writer.String("msg", message);
  });
  return writer.text();
}

std::string TextLine(LogLevel level, std::string_view message) {
  if (level == LogLevel::kError) return fmt::format("cnpa-op: {}", Printable(message));
  return fmt::format("cnpa-op: {}: {}", LevelName(level), Printable(message));
}

}  // namespace

std::string Printable(std::string_view message) {
  std::string line(message);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  // U+0080 to U+009F, in UTF-8: to many a terminal U+009B begins a sequence as ESC [ does.
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    if (line[i] == '\xc2' && static_cast<unsigned char>(line[i + 1]) < 0xA0) line.replace(i, 2, "  ");
  }
  return line;
}

bool IsJournal(int fd, const char* journal_stream) {
  struct stat info {};
  if (journal_stream == nullptr || ::fstat(fd, &info) != 0) return false;
  return fmt::format("{}:{}", info.st_dev, info.st_ino) == journal_stream;
}

Log::Log(LogLevel level, LogFormat format) : level_(level), format_(format) {
  if (format_ != LogFormat::kAuto) return;
  format_ = IsJournal(STDERR_FILENO, std::getenv("JOURNAL_STREAM")) ? LogFormat::kJournal : LogFormat::kText;
}

void Log::Write(LogLevel level, std::string_view message) const {
  WriteLine(level, message, TextLine(level, message));
}

void Log::Tell(LogLevel level, std::string_view line) const {
  WriteLine(level, line, line);
}

/// Writes `message`, or in the text format `text`.
void Log::WriteLine(LogLevel level, std::string_view message, std::string_view text) const {
  if (!shows(level)) return;
  std::string line;
  switch (format_) {
    case LogFormat::kJson: line = JsonLine(level, message); break;
    case LogFormat::kJournal: line = fmt::format("<{}>{}", JournalPriority(level), Printable(message)); break;
    case LogFormat::kAuto:
    case LogFormat::kText: line = text; break;
  }
  line += '\n';
  // One call a line, so that the lines of two processes don't mix. Who can't hear us can't be told that either.
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace cnpa
