// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "kube/codec/codec.h"
#include "kube/codec/codec_writers.h"

namespace cnpa {

const Collection kTeamSpaces{.resource = kTeamSpaceResource};
const Collection kNamespaces{.resource = kNamespaceResource};
const Collection kQuotas{.resource = kQuotaResource, .selector = OfName(kQuotaName)};

namespace {

bool IsUid(std::string_view uid) {
  return uid.size() <= 64 && std::all_of(uid.begin(), uid.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
         });
}

/// What must be known of an item to say whose it is.
struct Identity {
  std::string name;
  std::string uid;
};

Result<Identity> DecodeIdentity(const JsonDocument& document, const JsonReader& metadata) {
  Identity identity{metadata.String("name"), metadata.String("uid")};
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  if (!IsObjectName(identity.name)) return Fail(ErrorCode::kMalformed, "'metadata.name' is not the name of an object");
  if (!IsUid(identity.uid)) return Fail(ErrorCode::kMalformed, "'metadata.uid' is not a uid");
  return identity;
}

/// Returns what is wrong with an item of which at least the identity is known; "" when nothing is.
std::string Problem(const JsonDocument& document, std::string_view what, const std::string& name) {
  if (document.status()) return {};
  return "cannot read " + std::string(what) + " " + name + ": " + document.status().error().message;
}

std::vector<OwnerReference> DecodeOwners(const JsonReader& metadata) {
  std::vector<OwnerReference> owners;
  for (const JsonReader& owner : metadata.Objects("ownerReferences")) {
    owners.push_back({owner.OptionalString("apiVersion"), owner.OptionalString("kind"), owner.OptionalString("name"),
                      owner.OptionalString("uid")});
  }
  return owners;
}

Condition DecodeCondition(const JsonReader& condition) {
  return {.type = condition.String("type"),
          .status = condition.OptionalString("status"),
          .observed_generation = condition.IntIfPresent("observedGeneration"),
          .last_transition_time = condition.OptionalString("lastTransitionTime"),
          .reason = condition.OptionalString("reason"),
          .message = condition.OptionalString("message")};
}

TeamSpaceStatus DecodeStatus(const JsonReader& root) {
  const JsonReader reader = root.Object("status");
  TeamSpaceStatus status{.present = reader.present(),
                         .observed_generation = reader.IntIfPresent("observedGeneration"),
                         .namespace_name = reader.StringIfPresent("namespace"),
                         .namespace_uid = reader.StringIfPresent("namespaceUID"),
                         .has_conditions = reader.Has("conditions"),
                         .ready = std::nullopt};
  std::size_t index = 0;
  for (const JsonReader& condition : reader.Objects("conditions")) {
    if (condition.OptionalString("type") == "Ready") {
      status.ready = DecodeCondition(condition);
      status.ready_index = index;
      break;
    }
    ++index;
  }
  return status;
}

std::string DecodeScopes(const JsonReader& spec) {
  std::string text;
  for (const std::string& scope : spec.Strings("scopes")) text.append(text.empty() ? "" : ",").append(scope);
  return text.empty() ? "selected" : text;
}

/// A TeamSpace's kind is checked where the server sends it, which it does in lists, too.
Status CheckKind(const JsonReader& object, std::string_view kind) {
  const std::string told = object.OptionalString("kind");
  if (told.empty() || told == kind) return {};
  return Fail(ErrorCode::kMalformed, "'kind' is '" + told + "', not " + std::string(kind));
}

/// Each item is parsed in the same document.
template <typename T>
Result<T> DecodeItem(JsonDocument& document, std::string& item, Result<T> (*decode)(JsonDocument&, const JsonReader&)) {
  if (Status parsed = document.Parse(item); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  return decode(document, document.root());
}

}  // namespace

std::string OfName(std::string_view name) {
  return "fieldSelector=metadata.name%3D" + std::string(name);
}

std::string Collection::path() const {
  return resource.path(namespace_name) + (selector.empty() ? "" : "?" + selector);
}

/// DNS subdomains only.
bool IsObjectName(std::string_view name) {
  const auto is_edge = [](char c) { return c == '-' || c == '.'; };
  if (name.empty() || name.size() > 253 || is_edge(name.front()) || is_edge(name.back())) return false;
  if (name.find("..") != std::string_view::npos) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; });
}

Result<ListEnvelope> DecodeEnvelope(std::string envelope, const Collection& collection, std::size_t items) {
  JsonDocument document;
  if (Status parsed = document.Parse(envelope); !parsed) return tl::unexpected<Error>(std::move(parsed).error());
  const JsonReader root = document.root();
  const JsonReader metadata = root.Object("metadata");
  const std::string kind = root.OptionalString("kind");
  const std::string api_version = root.OptionalString("apiVersion");
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  ListEnvelope decoded{metadata.String("resourceVersion"), metadata.OptionalString("continue")};
  if (kind != collection.list_kind() || api_version != collection.resource.api_version()) {
    return Fail(ErrorCode::kMalformed, "expected a " + collection.list_kind() + " of " +
                                           collection.resource.api_version() + ", got '" + kind + "' of '" +
                                           api_version + "'");
  }
  // Go writes an empty list as null, unless told otherwise.
  const bool is_null = items == 0 && root.IsNull("items");
  if (!is_null && !root.IsZeros("items", items)) root.Fail("items", "is not a list of objects");
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  return decoded;
}

Result<TeamSpace> DecodeTeamSpace(JsonDocument& document, std::string& item) {
  return DecodeItem(document, item, &DecodeTeamSpaceAt);
}

Result<TeamSpace> DecodeTeamSpaceAt(JsonDocument& document, const JsonReader& object) {
  if (Status kind = CheckKind(object, kTeamSpaceKind); !kind) return tl::unexpected<Error>(std::move(kind).error());
  const JsonReader metadata = object.Object("metadata");
  Result<Identity> identity = DecodeIdentity(document, metadata);
  if (!identity) return tl::unexpected<Error>(std::move(identity).error());
  // Of a CRD whose scope is another: a path without the namespace leads to none of its objects.
  if (metadata.Has("namespace")) {
    return Fail(ErrorCode::kMalformed, "'" + identity->name + "' " + std::string(kInNamespace));
  }
  TeamSpace team_space{.name = std::move(identity->name), .uid = std::move(identity->uid)};
  team_space.deletion_timestamp = metadata.OptionalString("deletionTimestamp");
  team_space.finalizers = metadata.Strings("finalizers");
  team_space.generation = metadata.IntIfPresent("generation").value_or(0);
  team_space.status = DecodeStatus(object);
  const JsonReader spec = object.Object("spec");
  team_space.pods = spec.IntIfPresent("pods");
  // The CRD's default: objects older than it, or of a CRD without it, have none.
  team_space.cpu = spec.StringIfPresent("cpu").value_or("1");
  if (!team_space.pods) spec.Fail("pods", "is missing");
  if (AwaitsFinalizer(team_space)) {
    team_space.archived = ArchivedTexts{object.Json("spec"), metadata.Json("labels"), metadata.Json("annotations")};
  }
  const std::vector<WriteEntry> writes = DecodeWrites(metadata, &DecodeStatusWriters, team_space.writers);
  const Result<Time> made = ParseTime(metadata.OptionalString("creationTimestamp"));
  team_space.trace = ComputeTrace(writes, ObjectPart::kMetadata, made ? std::optional(*made) : std::nullopt);
  team_space.status_trace = ComputeTrace(writes, ObjectPart::kStatus);
  team_space.unreadable = Problem(document, "teamspace", team_space.name);
  return team_space;
}

Result<Namespace> DecodeNamespace(JsonDocument& document, std::string& item) {
  return DecodeItem(document, item, &DecodeNamespaceAt);
}

Result<Namespace> DecodeNamespaceAt(JsonDocument& document, const JsonReader& object) {
  if (Status kind = CheckKind(object, kNamespaceResource.kind); !kind)
    return tl::unexpected<Error>(std::move(kind).error());
  const JsonReader metadata = object.Object("metadata");
  Result<Identity> identity = DecodeIdentity(document, metadata);
  if (!identity) return tl::unexpected<Error>(std::move(identity).error());
  Namespace space{.name = std::move(identity->name), .uid = std::move(identity->uid)};
  if (!space.name.starts_with(kNamespacePrefix)) return space;  // Nobody's: the rest need not be looked at.
  space.terminating =
      metadata.Has("deletionTimestamp") || object.Object("status").OptionalString("phase") == "Terminating";
  space.team_space_label = metadata.Object("labels").StringIfPresent(kTeamSpaceLabel);
  space.owners = DecodeOwners(metadata);
  const std::vector<WriteEntry> writes = DecodeWrites(metadata, &DecodeMetadataWriters, space.writers);
  space.trace = ComputeTrace(writes, ObjectPart::kMetadata);
  space.unreadable = Problem(document, "namespace", space.name);
  return space;
}

Result<Quota> DecodeQuota(JsonDocument& document, std::string& item) {
  return DecodeItem(document, item, &DecodeQuotaAt);
}

Result<Quota> DecodeQuotaAt(JsonDocument& document, const JsonReader& object) {
  if (Status kind = CheckKind(object, kQuotaResource.kind); !kind)
    return tl::unexpected<Error>(std::move(kind).error());
  const JsonReader metadata = object.Object("metadata");
  Result<Identity> identity = DecodeIdentity(document, metadata);
  if (!identity) return tl::unexpected<Error>(std::move(identity).error());
  if (identity->name != kQuotaName)
    return Fail(ErrorCode::kMalformed, "'metadata.name' is not " + std::string(kQuotaName));
  Quota quota{.namespace_name = metadata.String("namespace"), .uid = std::move(identity->uid)};
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  const JsonReader spec = object.Object("spec");
  spec.EachString("hard", [&quota](std::string_view key, std::string_view value) { quota.hard.emplace(key, value); });
  quota.scoped = spec.HasMembers("scopes") || spec.HasMembers("scopeSelector");
  if (quota.scoped) quota.scopes = DecodeScopes(spec);
  quota.terminating = metadata.Has("deletionTimestamp");
  if (quota.scoped || quota.terminating) quota.finalizers = metadata.Strings("finalizers");
  const std::vector<WriteEntry> writes = DecodeWrites(metadata, &DecodeHardWriters, quota.writers);
  quota.trace = ComputeTrace(writes, ObjectPart::kSpec);
  quota.unreadable = Problem(document, "resourcequota", quota.namespace_name + "/" + std::string(kQuotaName));
  return quota;
}

Result<WatchEvent> DecodeWatchEvent(JsonDocument& document, const JsonReader& event) {
  const std::string type = event.String("type");
  const JsonReader object = event.Object("object");
  if (!document.status()) return tl::unexpected<Error>(document.status().error());
  if (!object.present()) return Fail(ErrorCode::kMalformed, "an event of a watch has no object");
  if (type == "ADDED" || type == "MODIFIED") return WatchEvent::kPut;
  if (type == "DELETED") return WatchEvent::kDeleted;
  if (type == "BOOKMARK") return WatchEvent::kBookmark;
  if (type != "ERROR") return Fail(ErrorCode::kMalformed, "'" + type + "' is no type of an event of a watch");
  const bool expired = object.IntIfPresent("code") == 410;
  return Fail(expired ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
              "the server ends the watch: " + object.OptionalString("message"));
}

std::string DecodeCreationTime(JsonDocument& document) {
  return document.root().Object("metadata").OptionalString("creationTimestamp");
}

std::map<std::string, std::string> DecodeUsed(JsonDocument& document) {
  std::map<std::string, std::string> used;
  document.root().Object("status").EachString(
      "used", [&used](std::string_view key, std::string_view value) { used.emplace(key, value); });
  return used;
}

}  // namespace cnpa
