// SPDX-License-Identifier: Apache-2.0
#include "core/permissions/rights.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include <yaml-cpp/yaml.h>

#include "app/commands/manifests.h"
#include "support/catch.h"

namespace cnpa {
namespace {

/// Namespace, group, resource, name, verb.
using Row = std::tuple<std::string, std::string, std::string, std::string, std::string>;

void AddRows(const YAML::Node& rule, const std::string& space, std::set<Row>& rows) {
  const YAML::Node names = rule["resourceNames"] ? rule["resourceNames"] : YAML::Load("[\"\"]");
  for (const YAML::Node& group : rule["apiGroups"]) {
    for (const YAML::Node& resource : rule["resources"]) {
      for (const YAML::Node& name : names) {
        for (const YAML::Node& verb : rule["verbs"]) {
          rows.emplace(space, group.Scalar(), resource.Scalar(), name.Scalar(), verb.Scalar());
        }
      }
    }
  }
}

TEST_CASE("kLeastRights are the rules of examples/rbac.yaml, one by one", "[core][rights]") {
  std::set<Row> granted;
  for (const YAML::Node& document : YAML::LoadAll(std::string(kRbacYaml))) {
    const YAML::Node space = document["metadata"]["namespace"];
    for (const YAML::Node& rule : document["rules"]) AddRows(rule, space ? space.Scalar() : "", granted);
  }
  std::set<Row> asked;
  for (const Right& right : kLeastRights) {
    asked.emplace(right.namespace_name, right.group, right.resource, right.name, right.verb);
  }
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
