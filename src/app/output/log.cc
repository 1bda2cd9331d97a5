// SPDX-License-Identifier: Apache-2.0
#include "app/output/log.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/time.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

/// Returns the level as --log-level has it.
std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kError: return "error";
    case LogLevel::kWarn: return "warn";
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

/// Calls `visit(name, value)` for each field that has a value; `name` as our JSON has it, and as the journal does.
void EachField(const LogFields& fields,
               const std::function<void(const char*, const char*, const std::string&)>& visit) {
  if (!fields.team_space.empty()) visit("teamSpace", "CNPA_OP_TEAM_SPACE", fields.team_space);
  if (!fields.object.empty()) visit("object", "CNPA_OP_OBJECT", fields.object);
  if (!fields.reason.empty()) visit("reason", "CNPA_OP_REASON", fields.reason);
  if (!fields.verb.empty()) visit("verb", "CNPA_OP_VERB", fields.verb);
  if (!fields.field.empty()) visit("field", "CNPA_OP_FIELD", fields.field);
  if (!fields.from.empty()) visit("from", "CNPA_OP_FROM", fields.from);
  if (!fields.to.empty()) visit("to", "CNPA_OP_TO", fields.to);
}

std::string JsonLine(const LogEntry& entry) {
  JsonWriter writer;
  writer.Object([&] {
    writer.String("time", FormatTime(Now()));
    writer.String("level", LevelName(entry.level));
    writer.String("msg", entry.text);
    EachField(entry.fields, [&writer](const char* name, const char* /*journal*/, const std::string& value) {
      writer.String(name, value);
    });
  });
  return writer.text();
}

std::string TextLine(const LogEntry& entry) {
  if (!entry.is_message) return entry.text;
  const std::string message = Printable(entry.text);
  switch (entry.level) {
    case LogLevel::kError:
    case LogLevel::kInfo: break;
    case LogLevel::kWarn: return fmt::format("cnpa-op: warning: {}", message);
    case LogLevel::kDebug: return fmt::format("cnpa-op: debug: {}", message);
  }
  return fmt::format("cnpa-op: {}", message);
}

/// Returns the time of day as this machine's clocks show it: "15:04:05 ".
std::string TimeOfDay() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02} ", local.tm_hour, local.tm_min, local.tm_sec);
}

/// Returns a socket that is connected to the journal, or nothing.
UniqueFd ConnectToJournal() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  constexpr std::string_view kPath = "/run/systemd/journal/socket";
  std::memcpy(&address.sun_path, kPath.data(), kPath.size());
  // connect() takes every kind of address by a pointer to their common head.
  const auto* head =
      reinterpret_cast<const sockaddr*>(&address);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  if (!socket || ::connect(socket.get(), head, sizeof(address)) != 0) return {};
  return socket;
}

}  // namespace

bool IsJournal(int fd, const char* journal_stream) {
  struct stat info {};
  if (journal_stream == nullptr || ::fstat(fd, &info) != 0) return false;
  return fmt::format("{}:{}", info.st_dev, info.st_ino) == journal_stream;
}

Log::Log(LogLevel level, LogFormat format) : level_(level), format_(format) {
  if (format_ != LogFormat::kAuto) return;
  format_ = IsJournal(STDERR_FILENO, std::getenv("JOURNAL_STREAM")) ? LogFormat::kJournal : LogFormat::kText;
}

std::string JournalDatagram(const LogEntry& entry) {
  std::string datagram = fmt::format("PRIORITY={}\nSYSLOG_IDENTIFIER=cnpa-op\nMESSAGE={}\n",
                                     JournalPriority(entry.level), Printable(entry.text));
  EachField(entry.fields, [&datagram](const char* /*name*/, const char* journal, const std::string& value) {
    datagram += fmt::format("{}={}\n", journal, Printable(value));
  });
  return datagram;
}

void Log::SendFields() {
  if (format_ == LogFormat::kJournal && IsJournal(STDERR_FILENO, std::getenv("JOURNAL_STREAM"))) {
    journal_ = ConnectToJournal();
  }
}

bool Log::on_terminal() const {
  return format_ == LogFormat::kText && ::isatty(STDERR_FILENO) == 1;
}

void Log::Write(const LogEntry& entry) const {
  if (!shows(entry.level)) return;
  if (sink_) return sink_(entry);
  if (journal_) {
    const std::string datagram = JournalDatagram(entry);
    if (::send(journal_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL) >= 0) return;
  }
  std::string line;
  switch (format_) {
    case LogFormat::kJson: line = JsonLine(entry); break;
    case LogFormat::kJournal: line = fmt::format("<{}>{}", JournalPriority(entry.level), Printable(entry.text)); break;
    case LogFormat::kAuto:
    case LogFormat::kText: line = (timed_ ? TimeOfDay() : "") + TextLine(entry); break;
  }
  line += '\n';
  // One call a line, so that the lines of two processes don't mix. Who can't hear us can't be told that either.
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace cnpa
