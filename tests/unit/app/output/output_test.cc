// SPDX-License-Identifier: Apache-2.0
#include "app/output/output.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include "support/capture.h"
#include "support/catch.h"
#include "support/child.h"

namespace cnpa {
namespace {

TEST_CASE("Print and PrintLine write to stdout, and FlushOutput finds nothing wrong", "[app][output]") {
  CapturedStream captured(stdout);
  Print("a");
  PrintLine("b");
  const Status flushed = FlushOutput();
  CHECK(captured.Text() == "ab\n");
  CHECK(ErrorOf(flushed) == std::nullopt);
}

/// Prints into `fd` and returns the length of FlushOutput()'s message, 0 for none.
int FlushInto(int fd) {
  ::dup2(fd, STDOUT_FILENO);
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c)
  PrintLine("text");
  const Status flushed = FlushOutput();
  return flushed ? 0 : static_cast<int>(flushed.error().message.size());
}

TEST_CASE("FlushOutput says that the disk is full", "[app][output]") {
  const std::string want = "cannot write to standard output: no space left on device";
  CHECK(ExitCodeOfChild([] { return FlushInto(::open("/dev/full", O_WRONLY)); }) == static_cast<int>(want.size()));
}

TEST_CASE("FlushOutput takes a reader who left as no fault", "[app][output]") {
  const int code = ExitCodeOfChild([] {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) return 255;
    ::close(pipe[0]);
    return FlushInto(pipe[1]);
  });
  CHECK(code == 0);
}

}  // namespace
}  // namespace cnpa
