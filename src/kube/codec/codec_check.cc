// SPDX-License-Identifier: Apache-2.0
#include "kube/codec/codec_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/objects/objects.h"
#include "kube/json/json.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

constexpr std::string_view kVersionName = kTeamSpaceApiVersion.substr(kTeamSpaceApiVersion.find('/') + 1);
constexpr std::string_view kListKind = "TeamSpaceList";
constexpr std::string_view kKeepsUnknown = "x-kubernetes-preserve-unknown-fields";
constexpr std::string_view kConditions = "status.conditions";

constexpr std::array<SchemaField, 12> kFields{{
    {"spec.pods", "integer"},
    {"spec.cpu", "string"},
    {"status.observedGeneration", "integer"},
    {"status.namespace", "string"},
    {kStatusNamespaceUidPath, "string"},
    {kConditions, "array"},
    {"status.conditions[].type", "string"},
    {"status.conditions[].status", "string"},
    {"status.conditions[].observedGeneration", "integer"},
    {"status.conditions[].lastTransitionTime", "string"},
    {"status.conditions[].reason", "string"},
    {"status.conditions[].message", "string"},
}};

/// Returns how a field differs from `wanted`; "" when it does not.
std::string CompareType(const JsonReader& schema, std::string_view wanted) {
  const std::string type = schema.OptionalString("type");
  if (type == wanted) return {};
  if (type.empty() && schema.IsTrue(kKeepsUnknown)) return {};
  if (wanted == "string" && schema.IsTrue("x-kubernetes-int-or-string")) return {};
  return "is " + (type.empty() ? "of no type" : type) + ", not " + std::string(wanted);
}

/// Returns how the field at `path` below `schema` differs from `wanted`; "" when it does not.
std::string Compare(const JsonReader& schema, std::string_view path, std::string_view wanted) {
  if (path.empty()) return CompareType(schema, wanted);
  if (path.starts_with("[].")) return Compare(schema.Object("items"), path.substr(3), wanted);
  const std::size_t end = std::min(path.find_first_of(".["), path.size());
  const JsonReader properties = schema.Object("properties");
  const JsonReader field = properties.Object(path.substr(0, end));
  if (!field.present()) return schema.IsTrue(kKeepsUnknown) ? "" : "is missing";
  path.remove_prefix(end);
  if (path.starts_with('.')) path.remove_prefix(1);
  return Compare(field, path, wanted);
}

void CompareSchema(const JsonReader& schema, CrdReport& report) {
  for (const SchemaField& field : kFields) {
    if (field.path.starts_with(kConditions) && !report.has_conditions) continue;
    const std::string difference = Compare(schema, field.path, field.type);
    if (difference.empty()) continue;
    // Without these all that matters works: a CRD may be an older one, or somebody's own.
    const bool missing = difference == "is missing";
    if (missing && field.path == kConditions) {
      report.has_conditions = false;
    } else if (missing && field.path == kStatusNamespaceUidPath) {
      report.has_namespace_uid = false;
    } else {
      report.differences.push_back(std::string(field.path) + " " + difference);
    }
  }
}

void CompareName(std::string_view what, const std::string& name, std::string_view wanted, CrdReport& report) {
  if (name == wanted) return;
  report.differences.push_back(std::string(what) + " is '" + name + "', not " + std::string(wanted));
}

/// Source:  k8s.io/apiextensions-apiserver, CustomResourceDefinitionConditionType.
void TakeCondition(const JsonReader& condition, CrdReport& report) {
  const std::string type = condition.OptionalString("type");
  const bool holds = condition.OptionalString("status") == "True";
  if (type == "Established") report.established = holds;
  // It says which name is taken; the other only that one is.
  if (type == "NamesAccepted" && !holds) report.refusal = condition.OptionalString("message");
}

void TakeVersion(const JsonReader& version, CrdReport& report) {
  const std::string name = version.OptionalString("name");
  if (version.IsTrue("served")) report.served_versions.push_back(name);
  if (name != kVersionName) return;
  report.served = version.IsTrue("served");
  const JsonReader subresources = version.Object("subresources");
  report.has_status = subresources.Has("status");
  const JsonReader schema = version.Object("schema");
  CompareSchema(schema.Object("openAPIV3Schema"), report);
}

}  // namespace

Result<std::string> DecodeVersion(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  std::string version = document.root().String("gitVersion");
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return version;
}

/// Source:   k8s.io/apiserver/pkg/server/healthz: "[-]etcd failed: reason withheld", a line each.
std::vector<std::string> DecodeFailedReadyChecks(std::string_view text) {
  constexpr std::string_view kMark = "[-]";
  std::vector<std::string> names;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(kMark)) continue;
    line.remove_prefix(kMark.size());
    names.emplace_back(line.substr(0, line.find(' ')));
  }
  return names;
}

std::string EncodeSelfReview() {
  JsonWriter writer;
  writer.Object([&writer] {
    writer.String("apiVersion", "authentication.k8s.io/v1");
    writer.String("kind", "SelfSubjectReview");
  });
  return writer.text();
}

Result<UserInfo> DecodeSelfReview(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  const JsonReader status = root.Object("status");
  const JsonReader info = status.Object("userInfo");
  UserInfo user{info.String("username"), info.Strings("groups")};
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return user;
}

std::string EncodeAccessReview(const Right& right) {
  const std::size_t slash = std::min(right.resource.find('/'), right.resource.size());
  JsonWriter writer;
  writer.Object([&] {
    writer.String("apiVersion", "authorization.k8s.io/v1");
    writer.String("kind", "SelfSubjectAccessReview");
    writer.Object("spec", [&] {
      writer.Object("resourceAttributes", [&] {
        if (!right.namespace_name.empty()) writer.String("namespace", right.namespace_name);
        writer.String("group", right.group);
        writer.String("resource", right.resource.substr(0, slash));
        if (slash < right.resource.size()) writer.String("subresource", right.resource.substr(slash + 1));
        if (!right.name.empty()) writer.String("name", right.name);
        writer.String("verb", right.verb);
      });
    });
  });
  return writer.text();
}

Result<bool> DecodeAccessReview(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  const JsonReader status = root.Object("status");
  const bool allowed = status.IsTrue("allowed");
  if (!status.Has("allowed")) status.Fail("allowed", "is missing");
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return allowed;
}

std::span<const SchemaField> SchemaFields() {
  return kFields;
}

Result<CrdReport> DecodeCrdReport(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  const JsonReader metadata = root.Object("metadata");
  metadata.String("uid");  // Proves that this is an object at all.
  const JsonReader spec = root.Object("spec");
  CrdReport report{.deleting = metadata.Has("deletionTimestamp"),
                   .cluster_scoped = spec.OptionalString("scope") == "Cluster",
                   .has_schema = true};
  const JsonReader status = root.Object("status");
  for (const JsonReader& condition : status.Objects("conditions")) TakeCondition(condition, report);
  const JsonReader names = spec.Object("names");
  CompareName("kind", names.OptionalString("kind"), kTeamSpaceKind, report);
  CompareName("listKind", names.OptionalString("listKind"), kListKind, report);
  for (const JsonReader& version : spec.Objects("versions")) TakeVersion(version, report);
  if (report.served) report.served_versions.clear();
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return report;
}

Result<CrdReport> DecodeDiscoveryReport(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  // What is served is established, and of what is not nothing more is known.
  CrdReport report{.established = true, .cluster_scoped = true};
  for (const JsonReader& resource : root.Objects("resources")) {
    const std::string name = resource.OptionalString("name");
    if (name == "teamspaces/status") report.has_status = true;
    if (name != "teamspaces") continue;
    report.served = true;
    report.cluster_scoped = !resource.IsTrue("namespaced");
    CompareName("kind", resource.OptionalString("kind"), kTeamSpaceKind, report);
    // The server takes `create` off the verbs of a resource whose CRD is being deleted.
    const std::vector<std::string> verbs = resource.Strings("verbs");
    report.deleting = std::find(verbs.begin(), verbs.end(), "create") == verbs.end();
  }
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return report;
}

Result<std::vector<std::string>> DecodeGroupVersions(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  std::vector<std::string> versions;
  for (const JsonReader& version : root.Objects("versions")) versions.push_back(version.String("version"));
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return versions;
}

}  // namespace cnpa
