// SPDX-License-Identifier: Apache-2.0
#include "app/loop/pace.h"

#include <string>

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

TEST_CASE("ShouldEndForKubeconfig waits until another start may find another one", "[app][pace]") {
  struct Case {
    std::string name;
    Unread unread;
    bool want;
  };
  const Case cases[] = {
      {"refused soon after the start", {true, true, 5min - 1ms, 5min}, false},
      {"refused later", {true, true, 5min, 0s}, true},
      {"refused, in a file that each pass reads", {false, true, 24h, 24h}, false},
      {"away for a while", {true, false, 24h, 10min - 1ms}, false},
      {"away, or another authority or address", {true, false, 24h, 10min}, true},
      {"so since the start", {true, false, 10min, 10min}, true},
      {"away, with a file that each pass reads", {false, false, 24h, 24h}, false},
      {"all is well", {true, false, 24h, 0s}, false},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ShouldEndForKubeconfig(c.unread) == c.want);
    }
  }
}

}  // namespace
}  // namespace cnpa
