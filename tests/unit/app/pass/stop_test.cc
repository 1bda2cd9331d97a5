// SPDX-License-Identifier: Apache-2.0
#include "app/pass/stop.h"

#include <csignal>
#include <poll.h>

#include "support/catch.h"
#include "support/child.h"

namespace cnpa {
namespace {

bool IsReadable(int fd) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, 0) == 1;
}

TEST_CASE("StopSignals tells the signal that came, and its descriptor stays readable", "[app][stop]") {
  for (const int signal : {SIGTERM, SIGINT}) {
    const int code = ExitCodeOfChild([signal] {
      StopSignals::Install();
      if (StopSignals::received() != 0 || IsReadable(StopSignals::fd())) return 1;
      std::raise(signal);
      if (StopSignals::received() != signal) return 2;
      const bool readable = IsReadable(StopSignals::fd());
      const bool still_readable = IsReadable(StopSignals::fd());
      return readable && still_readable ? 0 : 3;
    });
    CHECK(code == 0);
  }
}

TEST_CASE("StopSignals lets a second signal end the process at once, of either kind", "[app][stop]") {
  for (const int first : {SIGTERM, SIGINT}) {
    for (const int second : {SIGTERM, SIGINT}) {
      const int code = ExitCodeOfChild([first, second] {
        StopSignals::Install();
        std::raise(first);
        std::raise(second);
        return 0;
      });
      CHECK(code == -1);
    }
  }
}

}  // namespace
}  // namespace cnpa
