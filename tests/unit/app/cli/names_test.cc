// SPDX-License-Identifier: Apache-2.0
#include "app/cli/names.h"

#include "support/catch.h"

namespace cnpa {
namespace {

TEST_CASE("NameIn takes the kind off that kubectl puts before a name", "[app][names]") {
  for (const std::string kind : {"ts", "teamspace", "teamspaces", "TeamSpace", "teamspace.platform.labhub.io"}) {
    CHECK(NameIn(kind + "/alpha") == "alpha");
    CHECK(NameIn(kind) == kind);
  }
  for (const std::string other : {"alpha", "", "/", "pods/alpha", "team/alpha", "ts.example.com/alpha", "../alpha"}) {
    CHECK(NameIn(other) == other);
  }
  CHECK(NameIn("ts/").empty());
  CHECK(NameIn("ts/a/b") == "a/b");
}

TEST_CASE("DescribeMissing says what was perhaps meant", "[app][names]") {
  const std::vector<std::string> names{"alpha", "beta", "team-red", "red"};
  struct Case {
    std::string name;
    std::string want;
  };
  const std::vector<Case> cases{
      {"alpa", "there is no TeamSpace 'alpa': did you mean 'alpha'?"},
      {"team-alpha", "there is no TeamSpace 'team-alpha': did you mean 'alpha'?"},
      {"team-ret", "there is no TeamSpace 'team-ret': did you mean 'team-red'?"},
      {"nobody", "there is no TeamSpace 'nobody'"},
      {"team-", "there is no TeamSpace 'team-'"},
      {"ts", "there is no TeamSpace 'ts': names stand alone, as in cnpa-op get alpha"},
      {"TeamSpaces", "there is no TeamSpace 'TeamSpaces': names stand alone, as in cnpa-op get alpha"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(DescribeMissing(c.name, names) == c.want);
    }
  }
}

TEST_CASE("NearMatch finds what was meant, and nothing far away", "[app][names]") {
  const std::vector<std::string> words{"reconcile", "crd", "rbac", "version"};
  CHECK(NearMatch("reconsile", words) == "reconcile");
  CHECK(NearMatch("recncile", words) == "reconcile");
  CHECK(NearMatch("versoin", words) == "version");
  CHECK(NearMatch("rbca", words).empty());
  CHECK(NearMatch("cr", words) == "crd");
  CHECK(NearMatch("crds", words) == "crd");
  CHECK(NearMatch("frobnicate", words).empty());
  CHECK(NearMatch("", words).empty());
  CHECK(NearMatch("x", {}).empty());
}

}  // namespace
}  // namespace cnpa
