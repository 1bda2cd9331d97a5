// SPDX-License-Identifier: Apache-2.0
//
// The objects that cnpa-op reads and writes, with the fields that it owns or decides on, and no others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/boxed.h"
#include "base/time.h"
#include "core/objects/writer.h"

namespace cnpa {

inline constexpr std::string_view kTeamSpaceApiVersion = "platform.labhub.io/v1alpha1";
inline constexpr std::string_view kTeamSpaceKind = "TeamSpace";
inline constexpr std::string_view kFinalizer = "platform.labhub.io/cleanup";
inline constexpr std::string_view kTeamSpaceLabel = "platform.labhub.io/teamspace";
inline constexpr std::string_view kNamespacePrefix = "team-";
inline constexpr std::string_view kQuotaName = "team-quota";
inline constexpr std::string_view kPodsKey = "pods";
inline constexpr std::string_view kCpuKey = "requests.cpu";

/// An object by its name.
struct ObjectRef {
  std::string kind;            ///< Empty: none.
  std::string namespace_name;  ///< Empty for what is in none.
  std::string name;

  /// Returns "ResourceQuota/team-red/team-quota".
  std::string Text() const { return kind + "/" + (namespace_name.empty() ? "" : namespace_name + "/") + name; }
  bool operator==(const ObjectRef&) const = default;
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;

  bool operator==(const OwnerReference&) const = default;
};

/// Source:  k8s.io/apimachinery/pkg/apis/meta/v1, Condition.
struct Condition {
  std::string type;
  std::string status;  ///< "True", "False" or "Unknown".
  std::optional<std::int64_t> observed_generation;
  std::string last_transition_time;  ///< As text: it is carried over unchanged while the status stays.
  std::string reason;
  std::string message;

  bool operator==(const Condition&) const = default;
};

/// `status` of a TeamSpace, as listed. Members that are not there are empty.
struct TeamSpaceStatus {
  bool present = false;  ///< There is a `status` at all; it may be `{}`.
  std::optional<std::int64_t> observed_generation;
  std::optional<std::string> namespace_name;
  Boxed<std::string> namespace_uid;
  bool has_conditions = false;  ///< There is a list `conditions`; it may be empty.
  Boxed<Condition> ready;
  std::size_t ready_index = 0;  ///< Place of `ready` in the list.

  bool operator==(const TeamSpaceStatus&) const = default;
};

/// What of a TeamSpace only its archive holds: each a JSON object, as listed. Empty: there is none.
struct ArchivedTexts {
  std::string spec;
  std::string labels;
  std::string annotations;

  bool operator==(const ArchivedTexts&) const = default;
};

struct TeamSpace {
  std::string name;
  std::string uid;
  std::int64_t generation = 0;
  std::string deletion_timestamp;       ///< Empty while it is not being deleted.
  std::vector<std::string> finalizers;  ///< All of them, in their order.
  std::optional<std::int64_t> pods;     ///< Nothing when it does not decode; `unreadable` then says why.
  std::string cpu;                      ///< As written by the user.
  TeamSpaceStatus status;
  Boxed<ArchivedTexts> archived;  ///< Only while it waits for our finalizer: nobody else has use for so much text.
  FieldWriters writers;           ///< Of the fields of `status`.
  WriteTrace trace;               ///< Of the metadata.
  WriteTrace status_trace;
  std::string unreadable;  ///< Why no plan can be made for it; empty when all is well.

  bool deleting() const { return !deletion_timestamp.empty(); }
  bool operator==(const TeamSpace&) const = default;
};

struct Namespace {
  std::string name;
  std::string uid;
  bool terminating = false;
  std::optional<std::string> team_space_label;  ///< Value of kTeamSpaceLabel.
  std::vector<OwnerReference> owners;           ///< All of them, in their order.
  FieldWriters writers;                         ///< Of that label, and of owners by OwnerPath().
  WriteTrace trace;                             ///< Of the metadata.
  std::string unreadable;

  bool operator==(const Namespace&) const = default;
};

/// A ResourceQuota of the name kQuotaName.
struct Quota {
  std::string namespace_name;
  std::string uid;
  std::map<std::string, std::string> hard;  ///< `spec.hard`, values as listed.
  bool scoped = false;                      ///< It has `scopes` or `scopeSelector`, so it does not bind everything.
  std::string scopes;                       ///< Which, if it has: "BestEffort,NotTerminating", or "selected".
  bool terminating = false;                 ///< It is being deleted, and binds until it is gone.
  std::vector<std::string> finalizers;      ///< Looked at only where it is scoped or terminating.
  FieldWriters writers;                     ///< Of the keys of `hard`, and of kScopesPath.
  WriteTrace trace;                         ///< Of the spec.
  std::string unreadable;

  bool operator==(const Quota&) const = default;
};

/// What the CustomResourceDefinition of TeamSpaces is like. The defaults hold where nobody needed to ask.
struct CrdFacts {
  bool deleting = false;       ///< Somebody deletes it: every TeamSpace then bears a deletionTimestamp.
  bool has_status = true;      ///< The status subresource is on, with observedGeneration and namespace in its schema.
  bool has_conditions = true;  ///< The schema of the status has `conditions`; a minimal CRD does without.
  bool has_namespace_uid = false;  ///< The schema of the status is known to have `namespaceUID`; older CRDs do without.

  bool operator==(const CrdFacts&) const = default;
};

/// All that a pass knows of the cluster. Sorted by name, complete or not made at all.
struct Observation {
  std::vector<TeamSpace> team_spaces;
  std::vector<Namespace> namespaces;  ///< Only those whose name begins with kNamespacePrefix.
  std::vector<Quota> quotas;          ///< Sorted by namespace.
  CrdFacts crd;
  Time observed_at{};  ///< The only clock that the computation sees.

  bool operator==(const Observation&) const = default;
};

inline constexpr std::string_view kOwnersPath = "metadata.ownerReferences";
inline constexpr std::string_view kFinalizersPath = "metadata.finalizers";
inline constexpr std::string_view kHardPath = "spec.hard.";  ///< The key follows.
inline constexpr std::string_view kScopesPath = "spec.scopes";
inline constexpr std::string_view kObservedGenerationPath = "status.observedGeneration";
inline constexpr std::string_view kStatusNamespacePath = "status.namespace";
inline constexpr std::string_view kStatusNamespaceUidPath = "status.namespaceUID";
inline constexpr std::string_view kReadyConditionPath = "status.conditions['Ready']";

/// Returns the path of our label: "metadata.labels['platform.labhub.io/teamspace']".
std::string LabelPath();

/// Returns the path of a member of the condition Ready: "status.conditions['Ready'].reason".
std::string ReadyMemberPath(std::string_view member);

/// Returns the path of one ownerReference: "metadata.ownerReferences['<uid>']".
std::string OwnerPath(std::string_view uid);

inline std::string NamespaceNameOf(std::string_view team_space) {
  return std::string(kNamespacePrefix) + std::string(team_space);
}

/// Returns whether a plan for `observation` depends on what the CRD is like: a TeamSpace that waits for our
/// finalizer may be going with its CRD, and one whose status is missing what we write may have a CRD that drops it.
bool MustReadCrd(const Observation& observation);

/// Returns whether a status that was listed holds `namespaceUID`: the server would drop it if the CRD had no place for
/// it, so the CRD need not be read to know.
bool ShowsNamespaceUid(const Observation& observation);

/// Returns whether `team_space` has our finalizer.
bool HasFinalizer(const TeamSpace& team_space);

/// Returns whether `team_space` is being deleted and waits for us.
bool AwaitsFinalizer(const TeamSpace& team_space);

/// Returns whether `team-<name>` can be a namespace: `name` is a DNS label of at most 58 characters.
///
/// Source:  RFC 1123, section 2.1; Kubernetes, Object Names and IDs.
bool IsTeamSpaceName(std::string_view name);

}  // namespace cnpa
