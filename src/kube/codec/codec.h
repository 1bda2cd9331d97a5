// SPDX-License-Identifier: Apache-2.0
//
// How our objects look on the wire: items of lists in, writes out.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/objects/objects.h"
#include "core/objects/resource.h"
#include "core/plan/change.h"
#include "kube/http/transport.h"
#include "kube/json/json.h"

namespace cnpa {

/// What is listed, or watched, by one request.
struct Collection {
  Resource resource;
  std::string selector = {};        ///< In the query, as OfName() returns it; "": all.
  std::string namespace_name = {};  ///< Of the one that is looked into; "": all.

  /// Returns where it is, with the query that selects what we look at.
  std::string path() const;

  /// Returns how its list introduces itself: "NamespaceList".
  std::string list_kind() const { return std::string(resource.kind) + "List"; }
};

/// Returns what selects the objects of one name. Takes no permission beyond `list`.
std::string OfName(std::string_view name);

extern const Collection kTeamSpaces;
extern const Collection kNamespaces;
/// Only the quotas of our name: authorised by that name, and a hundredth of the bytes where tenants have their own.
extern const Collection kQuotas;

struct ListEnvelope {
  std::string resource_version;
  std::string continue_token;  ///< Not empty: there are further pages.
};

/// Decodes what a ListSplitter left of a list with `items` items.
///
/// Errors:  kMalformed when it is not a whole list of `collection`.
Result<ListEnvelope> DecodeEnvelope(std::string envelope, const Collection& collection, std::size_t items);

/// Returns whether the API server admits `name` for an object: names go into paths of URLs and files.
bool IsObjectName(std::string_view name);

/// Ends the error on a TeamSpace that a CRD of another scope has put into a namespace.
inline constexpr std::string_view kInNamespace = "is in a namespace";

/// Decode one item of a list. Whatever else is wrong with it is noted in its `unreadable`.
///
/// Errors:  kMalformed when it has no usable name or uid: then nobody can say whose it is.
Result<TeamSpace> DecodeTeamSpace(JsonDocument& document, std::string& item);
Result<Namespace> DecodeNamespace(JsonDocument& document, std::string& item);
Result<Quota> DecodeQuota(JsonDocument& document, std::string& item);

/// The same of an object in a larger document.
Result<TeamSpace> DecodeTeamSpaceAt(JsonDocument& document, const JsonReader& object);
Result<Namespace> DecodeNamespaceAt(JsonDocument& document, const JsonReader& object);
Result<Quota> DecodeQuotaAt(JsonDocument& document, const JsonReader& object);

/// What an event of a watch says of its object.
enum class WatchEvent { kPut, kDeleted, kBookmark };

/// Reads the type of an event of a watch; the object it is about is the member `object`.
///
/// Errors:  kNotFound when the server no longer has what has happened since (410); kUnavailable for another error that
/// it tells; kMalformed. Source:  Kubernetes API Concepts, Efficient detection of changes.
Result<WatchEvent> DecodeWatchEvent(JsonDocument& document, const JsonReader& event);

/// What people want to see of an object, and no decision depends on. Of the one that was just decoded in `document`.
std::string DecodeCreationTime(JsonDocument& document);                 ///< metadata.creationTimestamp, as written.
std::map<std::string, std::string> DecodeUsed(JsonDocument& document);  ///< status.used of a quota.

/// Where the CustomResourceDefinition itself, and what the server serves of our API, are read.
inline constexpr std::string_view kCrdPath =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/teamspaces.platform.labhub.io";
inline constexpr std::string_view kDiscoveryPath = "/apis/platform.labhub.io/v1alpha1";
/// The schemas of what is served there. As with discovery, everybody who is known to the server may read it.
inline constexpr std::string_view kOpenApiPath = "/openapi/v3/apis/platform.labhub.io/v1alpha1";

/// Returns what a CustomResourceDefinition says of our version of it.
///
/// Errors:  kMalformed.
Result<CrdFacts> DecodeCrd(std::string text);

/// Returns what discovery tells of the same: the server takes `create` off the verbs of a resource whose CRD
/// is being deleted, and lists the status subresource. What its status has is not to be seen there: conditions
/// are assumed, `namespaceUID` is not.
///
/// Errors:  kMalformed.
Result<CrdFacts> DecodeDiscovery(std::string text);

/// Returns `facts`, of DecodeDiscovery(), with what the published schema says of the status; as they are where it has
/// no schema of TeamSpaces.
///
/// Errors:  kMalformed.
/// Source:  OpenAPI 3.0, Components Object; Kubernetes, The Kubernetes API, OpenAPI V3.
Result<CrdFacts> DecodePublishedSchema(std::string text, CrdFacts facts);

/// Returns the request that makes `change`. Each is guarded, so that it does nothing if the object is not
/// what the plan was made from; the table of guards is in docs/contract.md.
///
/// Requires: `change` is not an archive.
Request EncodeChange(const Chain& chain, const Change& change);

/// Reads what the server answered to `change`: the fields of ours that are kept otherwise than they were sent, from
/// what is kept to what was sent.
///
/// Errors:  kMalformed when it is not that object.
Result<std::vector<FieldChange>> DecodeAlterations(const Chain& chain, const Change& change, std::string answer);

/// Returns where one TeamSpace is read by its name: as a list of at most one, since that takes no right beyond `list`.
std::string ConfirmationPath(const Chain& chain);

/// Checks that a TeamSpace read from ConfirmationPath() is still the one, and in the generation, that was listed.
///
/// Errors:  kConflict when it is not; kMalformed.
Status DecodeConfirmation(std::string text, const Chain& chain);

/// Returns where the namespace of `chain` is read by its name, as a list of at most one.
std::string NamespaceLookupPath(const Chain& chain);

/// Returns the namespace read from there; nothing when there is none.
///
/// Errors:  kMalformed.
Result<std::optional<Namespace>> DecodeFoundNamespace(std::string text);

/// Returns the uid of an object that was written.
///
/// Errors:  kMalformed.
Result<std::string> DecodeUid(std::string text);

/// Returns the text of an archive file.
std::string EncodeArchive(const WriteArchive& archive);

}  // namespace cnpa
