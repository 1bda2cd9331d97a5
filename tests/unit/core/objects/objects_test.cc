// SPDX-License-Identifier: Apache-2.0
#include "core/objects/objects.h"

#include <string>

#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("IsTeamSpaceName takes DNS labels of at most 58 characters", "[core][objects]") {
  for (const std::string name : {"a", "0", "alpha", "a-b", "a--b", "0a", "a0", "team-team", "x1-y2"}) {
    CAPTURE(name);
    CHECK(IsTeamSpaceName(name));
  }
  CHECK(IsTeamSpaceName(std::string(58, 'a')));
}

TEST_CASE("IsTeamSpaceName refuses what can't stand behind team-", "[core][objects]") {
  for (const std::string name : {"", "a.b", "-a", "a-", "-", "A", "a_b", "a b", "ä", "a/b", ".."}) {
    CAPTURE(name);
    CHECK_FALSE(IsTeamSpaceName(name));
  }
  CHECK_FALSE(IsTeamSpaceName(std::string(59, 'a')));
}

TEST_CASE("NamespaceNameOf puts team- in front", "[core][objects]") {
  CHECK(NamespaceNameOf("red") == "team-red");
  CHECK(NamespaceNameOf(std::string(58, 'a')).size() == 63);
}

TEST_CASE("TeamSpace::deleting says whether there is a deletionTimestamp", "[core][objects]") {
  CHECK_FALSE(TeamSpaceNamed("red").deleting());
  CHECK(DeletedTeamSpaceNamed("red").deleting());
}

TEST_CASE("AwaitsFinalizer is true of a deleting TeamSpace that has ours on it", "[core][objects]") {
  CHECK_FALSE(AwaitsFinalizer(TeamSpaceNamed("red")));
  TeamSpace red = DeletedTeamSpaceNamed("red");
  CHECK(AwaitsFinalizer(red));
  red.finalizers.insert(red.finalizers.begin(), "a.example/one");
  CHECK(AwaitsFinalizer(red));
  red.finalizers.pop_back();
  CHECK_FALSE(AwaitsFinalizer(red));
}

TEST_CASE("MustReadCrd asks only when a plan depends on the CRD", "[core][objects]") {
  Observation cluster = ConvergedCluster({"blue", "red"});
  CHECK_FALSE(MustReadCrd(cluster));
  CHECK_FALSE(MustReadCrd({}));
  TeamSpace& red = cluster.team_spaces[1];
  SECTION("a TeamSpace with our finalizer is being deleted") {
    red = DeletedTeamSpaceNamed("red");
    CHECK(MustReadCrd(cluster));
    red.finalizers = {"a.example/one"};
    red.status = {};
    CHECK_FALSE(MustReadCrd(cluster));
  }
  SECTION("no status has a namespaceUID: the CRD may have no place for it") {
    red.status.namespace_uid = std::nullopt;
    CHECK_FALSE(MustReadCrd(cluster));  // That of blue shows that it has.
    cluster.team_spaces[0].status.namespace_uid = std::nullopt;
    CHECK(MustReadCrd(cluster));
  }
  SECTION("none has one, and none has a namespace: all were refused") {
    for (TeamSpace& team_space : cluster.team_spaces) {
      team_space.status.observed_generation = std::nullopt;
      team_space.status.namespace_name = team_space.status.namespace_uid = std::nullopt;
      team_space.status.ready->status = "False";
    }
    CHECK_FALSE(MustReadCrd(cluster));
  }
  SECTION("a status lacks conditions") {
    red.status.has_conditions = false;
    CHECK(MustReadCrd(cluster));
  }
  SECTION("the status of a ready one lacks observedGeneration") {
    red.status.observed_generation = std::nullopt;
    CHECK(MustReadCrd(cluster));
  }
  SECTION("the status of a ready one lacks the namespace") {
    red.status.namespace_name = std::nullopt;
    CHECK(MustReadCrd(cluster));
  }
  SECTION("one that is refused has neither by right") {
    red.status.observed_generation = std::nullopt;
    red.status.namespace_name = std::nullopt;
    red.status.ready->status = "False";
    CHECK_FALSE(MustReadCrd(cluster));
  }
  SECTION("there is no status") {
    red.status = {};
    CHECK(MustReadCrd(cluster));
  }
}

}  // namespace
}  // namespace cnpa
