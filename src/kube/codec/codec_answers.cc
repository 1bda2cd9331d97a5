// SPDX-License-Identifier: Apache-2.0
//
// What is read one by one, around the lists and the writes: an object looked at once more, the CRD, an archive.
#include <algorithm>
#include <utility>

#include "kube/codec/codec.h"

namespace cnpa {

std::string ConfirmationPath(const Chain& chain) {
  return Collection{.resource = kTeamSpaceResource, .selector = OfName(chain.name)}.path();
}

Status DecodeConfirmation(std::string text, const Chain& chain) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return parsed;
  const JsonReader root = document.root();
  const std::vector<JsonReader> items = root.Objects("items");
  bool same = false;
  if (items.size() == 1) {
    const JsonReader metadata = items.front().Object("metadata");
    same = metadata.String("uid") == chain.uid && metadata.IntIfPresent("generation").value_or(0) == chain.generation;
  }
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  if (!same) return Fail(ErrorCode::kConflict, "teamspace " + chain.name + " is no longer what was listed");
  return {};
}

std::string NamespaceLookupPath(const Chain& chain) {
  return Collection{.resource = kNamespaceResource, .selector = OfName(NamespaceNameOf(chain.name))}.path();
}

Result<std::optional<Namespace>> DecodeFoundNamespace(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  const std::vector<JsonReader> items = root.Objects("items");
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  if (items.empty()) return std::nullopt;
  Result<Namespace> space = DecodeNamespaceAt(document, items.front());
  if (!space) return tl::unexpected<Error>(std::move(space).error());
  if (!space->unreadable.empty()) return Fail(ErrorCode::kMalformed, space->unreadable);
  return *std::move(space);
}

Result<std::string> DecodeUid(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  std::string uid = root.Object("metadata").String("uid");
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return uid;
}

namespace {

/// Takes from `facts` what the schema of a TeamSpace has no place for.
void AddSchema(const JsonReader& schema, CrdFacts& facts) {
  const JsonReader properties = schema.Object("properties");
  const JsonReader status = properties.Object("status");
  const JsonReader fields = status.Object("properties");
  const bool keeps_all =
      status.IsTrue("x-kubernetes-preserve-unknown-fields") || schema.IsTrue("x-kubernetes-preserve-unknown-fields");
  if (!keeps_all && !(fields.Has("observedGeneration") && fields.Has("namespace"))) facts.has_status = false;
  facts.has_conditions = keeps_all || fields.Has("conditions");
  facts.has_namespace_uid = keeps_all || fields.Has("namespaceUID");
}

}  // namespace

Result<CrdFacts> DecodeCrd(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  const JsonReader metadata = root.Object("metadata");
  metadata.String("uid");  // Proves that this is an object at all.
  CrdFacts facts{.deleting = metadata.Has("deletionTimestamp"), .has_status = false, .has_conditions = false};
  const JsonReader spec = root.Object("spec");
  for (const JsonReader& version : spec.Objects("versions")) {
    if (version.OptionalString("name") != kTeamSpaceApiVersion.substr(kTeamSpaceApiVersion.find('/') + 1)) continue;
    const JsonReader subresources = version.Object("subresources");
    const JsonReader holder = version.Object("schema");
    const JsonReader schema = holder.Object("openAPIV3Schema");
    facts.has_status = subresources.Has("status");
    AddSchema(schema, facts);
  }
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return facts;
}

Result<CrdFacts> DecodeDiscovery(std::string text) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  CrdFacts facts{.deleting = true, .has_status = false, .has_conditions = true};
  for (const JsonReader& resource : root.Objects("resources")) {
    const std::string name = resource.OptionalString("name");
    if (name == "teamspaces/status") facts.has_status = true;
    if (name != "teamspaces") continue;
    const std::vector<std::string> verbs = resource.Strings("verbs");
    facts.deleting = std::find(verbs.begin(), verbs.end(), "create") == verbs.end();
  }
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return facts;
}

Result<CrdFacts> DecodePublishedSchema(std::string text, CrdFacts facts) {
  JsonDocument document;
  if (Status parsed = ParseWhole(document, text); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  const JsonReader components = root.Object("components");
  const JsonReader schemas = components.Object("schemas");
  const JsonReader schema = schemas.Object("io.labhub.platform.v1alpha1.TeamSpace");
  if (schema.present()) AddSchema(schema, facts);
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return facts;
}

}  // namespace cnpa
