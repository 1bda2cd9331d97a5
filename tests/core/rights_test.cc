// SPDX-License-Identifier: Apache-2.0
#include "core/rights.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include <yaml-cpp/yaml.h>

#include "app/manifests.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using Row = std::tuple<std::string, std::string, std::string, std::string>;

TEST_CASE("kLeastRights are the rules of examples/rbac.yaml, one by one", "[core][rights]") {
  std::set<Row> granted;
  for (const YAML::Node& rule : YAML::Load(std::string(kRbacYaml))["rules"]) {
    const YAML::Node names = rule["resourceNames"] ? rule["resourceNames"] : YAML::Load("[\"\"]");
    for (const YAML::Node& group : rule["apiGroups"]) {
      for (const YAML::Node& resource : rule["resources"]) {
        for (const YAML::Node& name : names) {
          for (const YAML::Node& verb : rule["verbs"]) {
            granted.emplace(group.Scalar(), resource.Scalar(), name.Scalar(), verb.Scalar());
          }
        }
      }
    }
  }
  std::set<Row> asked;
  for (const Right& right : kLeastRights) asked.emplace(right.group, right.resource, right.name, right.verb);
  CHECK(asked.size() == kLeastRights.size());
  CHECK(asked == granted);
}

TEST_CASE("kLeastRights on one resource stand together", "[core][rights]") {
  std::set<std::string_view> seen;
  std::string_view last;
  for (const Right& right : kLeastRights) {
    if (right.resource != last) CHECK(seen.insert(right.resource).second);
    last = right.resource;
  }
}

}  // namespace
}  // namespace cnpa
