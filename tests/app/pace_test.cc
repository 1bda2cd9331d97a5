// SPDX-License-Identifier: Apache-2.0
#include "app/pace.h"

#include "support/catch.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

TEST_CASE("ComputePause stretches to 30 s while the cluster can't be read", "[app][pace]") {
  struct Case {
    milliseconds interval;
    int unreadable;
    milliseconds want;
  };
  const Case cases[] = {{3s, 0, 3s},   {3s, 1, 3s},   {3s, 2, 6s},           {3s, 3, 12s},        {3s, 4, 24s},
                        {3s, 5, 30s},  {3s, 6, 30s},  {3s, 2000000000, 30s}, {100ms, 8, 12800ms}, {100ms, 10, 30s},
                        {30s, 3, 30s}, {20s, 2, 30s}, {5min, 0, 5min},       {5min, 9, 5min}};
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.interval.count() << " ms, " << c.unreadable) {
      CHECK(ComputePause(c.interval, c.unreadable) == c.want);
    }
  }
}

TEST_CASE("ShouldEndForCredentials waits until another start would find others", "[app][pace]") {
  CHECK_FALSE(ShouldEndForCredentials({.loaded_by_systemd = true, .running_for = 5min - 1ms}));
  CHECK(ShouldEndForCredentials({.loaded_by_systemd = true, .running_for = 5min}));
  CHECK_FALSE(ShouldEndForCredentials({.loaded_by_systemd = false, .running_for = 24h}));
}

}  // namespace
}  // namespace cnpa
