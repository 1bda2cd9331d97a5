// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/desired.h"

#include <map>
#include <string>
#include <vector>

#include "support/builders.h"
#include "support/describe.h"

namespace cnpa {
namespace {

TEST_CASE("ComputeDesired names the namespace, its owner and exactly two hard limits", "[core][desired]") {
  TeamSpace red = TeamSpaceNamed("red");
  red.pods = 7;
  red.cpu = "1.50";
  const DesiredTeamSpace desired = ComputeDesired(red);
  CHECK(desired.namespace_name == "team-red");
  CHECK(desired.owner == OwnerReference{"platform.labhub.io/v1alpha1", "TeamSpace", "red", "uid-red"});
  CHECK(desired.hard == std::map<std::string, std::string>{{"pods", "7"}, {"requests.cpu", "1.50"}});
  CHECK(desired.refusal == std::nullopt);
}

TEST_CASE("ComputeDesired refuses a name that is too long or has a dot: InvalidName", "[core][desired]") {
  for (const std::string& name : {std::string(59, 'a'), std::string("a.b")}) {
    CAPTURE(name);
    CHECK(ComputeDesired(TeamSpaceNamed(name)).refusal ==
          Refusal{Reason::kInvalidName,
                  "\"team-" + name +
                      "\" can't be the name of a namespace: create the TeamSpace again with a name of at most 58 "
                      "lower-case letters, digits and '-'"});
  }
  CHECK(ComputeDesired(TeamSpaceNamed(std::string(58, 'a'))).refusal == std::nullopt);
}

TEST_CASE("ComputeDesired refuses spec.cpu that is not a positive quantity: InvalidQuantity", "[core][desired]") {
  for (const std::string cpu : {"abc", "", "0", "-1", "0m", "1e", "-500m", "1e10000000000", "1E400"}) {
    CAPTURE(cpu);
    TeamSpace red = TeamSpaceNamed("red");
    red.cpu = cpu;
    CHECK(ComputeDesired(red).refusal ==
          Refusal{Reason::kInvalidQuantity,
                  "spec.cpu: \"" + cpu + "\" is not a positive number of CPUs, such as 500m, 2 or 1.5"});
  }
}

TEST_CASE("ComputeDesired quotes no more than the beginning of a long spec.cpu", "[core][desired]") {
  TeamSpace red = TeamSpaceNamed("red");
  red.cpu = std::string(100000, '9');
  CHECK(ComputeDesired(red).refusal ==
        Refusal{Reason::kInvalidQuantity, "spec.cpu: \"" + std::string(64, '9') +
                                              " ...\" is not a positive number of CPUs, such as 500m, 2 or 1.5"});
  // Not in the midst of a character: the server would keep other text than was sent, and be sent it again.
  red.cpu = "x";
  for (int i = 0; i < 40; ++i) red.cpu += "\u00e9";
  const std::string kept = "x" + red.cpu.substr(1, 62);
  CHECK(ComputeDesired(red).refusal ==
        Refusal{Reason::kInvalidQuantity,
                "spec.cpu: \"" + kept + " ...\" is not a positive number of CPUs, such as 500m, 2 or 1.5"});
}

TEST_CASE("ComputeDesired refuses a negative number of pods: InvalidQuantity", "[core][desired]") {
  TeamSpace red = TeamSpaceNamed("red");
  red.pods = -1;
  CHECK(ComputeDesired(red).refusal ==
        Refusal{Reason::kInvalidQuantity, "spec.pods: -1 is not a number of pods, such as 10"});
  red.pods = 0;
  CHECK(ComputeDesired(red).refusal == std::nullopt);
}

TEST_CASE("SameQuantity compares by value, and text that is no quantity equals nothing", "[core][desired]") {
  CHECK(SameQuantity("0.5", "500m"));
  CHECK(SameQuantity("1000m", "1"));
  CHECK(SameQuantity("0.0001", "1m"));
  CHECK_FALSE(SameQuantity("1", "2"));
  CHECK_FALSE(SameQuantity("1m", "1M"));
  CHECK_FALSE(SameQuantity("abc", "abc"));
  CHECK_FALSE(SameQuantity("", ""));
}

}  // namespace
}  // namespace cnpa
