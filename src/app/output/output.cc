// SPDX-License-Identifier: Apache-2.0
#include "app/output/output.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"

namespace cnpa {
namespace {

int g_error = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): of stdout, which is global too.

}  // namespace

bool WantsColor(ColorMode mode, int fd) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

std::optional<std::size_t> TerminalColumns(int fd) {
  struct winsize size {};
  if (::isatty(fd) != 1 || ::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

ViewForm FormOf(ColorMode mode, int fd) {
  return {.color = WantsColor(mode, fd), .columns = TerminalColumns(fd)};
}

void Print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && g_error == 0) g_error = errno;
}

void PrintLine(std::string_view text) {
  Print(text);
  Print("\n");
}

Status FlushOutput() {
  if (std::fflush(stdout) != 0 && g_error == 0) g_error = errno;
  if (g_error == 0 || g_error == EPIPE) return {};
  return Fail(ErrorCode::kInvalid, "cannot write to standard output: " + SystemMessage(g_error));
}

}  // namespace cnpa
