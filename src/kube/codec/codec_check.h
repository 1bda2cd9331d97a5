// SPDX-License-Identifier: Apache-2.0
//
// What `cnpa-op check` asks the server about itself and about us: version, identity, rights, and the CRD as it is
// installed. None of it is stored by the server.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/permissions/rights.h"

namespace cnpa {

inline constexpr std::string_view kVersionPath = "/version";
inline constexpr std::string_view kReadyPath = "/readyz";
inline constexpr std::string_view kSelfReviewPath = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
inline constexpr std::string_view kAccessReviewPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// Returns the gitVersion of an answer of /version: "v1.37.2".
///
/// Errors:  kMalformed: not what a Kubernetes API server says.
Result<std::string> DecodeVersion(std::string text);

/// Returns the names of what failed in the text of a /readyz that is not 200.
std::vector<std::string> DecodeFailedReadyChecks(std::string_view text);

/// Who the server takes us for.
///
/// Source:  authentication.k8s.io/v1, UserInfo.
struct UserInfo {
  std::string username;
  std::vector<std::string> groups;

  bool operator==(const UserInfo&) const = default;
};

/// Returns a SelfSubjectReview: "who am I?".
std::string EncodeSelfReview();

/// Errors:  kMalformed.
Result<UserInfo> DecodeSelfReview(std::string text);

/// Returns a SelfSubjectAccessReview: "have I this right?".
std::string EncodeAccessReview(const Right& right);

/// Returns whether we have it.
///
/// Errors:  kMalformed.
Result<bool> DecodeAccessReview(std::string text);

/// A field that cnpa-op reads or writes, and its type in our schema.
struct SchemaField {
  std::string_view path;  ///< "status.conditions[].type": of each element.
  std::string_view type;
};

inline constexpr std::string_view kGroupPath = "/apis/platform.labhub.io";

/// Returns all fields of our CRD.
std::span<const SchemaField> SchemaFields();

/// A TeamSpace CRD as it is installed, and how its version v1alpha1 differs from ours where that matters.
struct CrdReport {
  bool established = false;
  std::string refusal;  ///< Why it is not, in the server's words; empty where it does not say.
  bool deleting = false;
  bool cluster_scoped = false;
  bool served = false;
  std::vector<std::string> served_versions;  ///< All that are, where v1alpha1 is not.
  bool has_status = false;                   ///< The subresource.
  bool has_conditions = true;
  bool has_namespace_uid = true;
  bool has_schema = false;               ///< The schema was there to compare: in discovery it is not.
  std::vector<std::string> differences;  ///< "spec.pods is string, not integer", "status.namespace is missing".

  bool operator==(const CrdReport&) const = default;
};

/// Errors:  kMalformed.
Result<CrdReport> DecodeCrdReport(std::string text);

/// Returns what discovery tells of the same. It does not list the versions.
///
/// Errors:  kMalformed.
Result<CrdReport> DecodeDiscoveryReport(std::string text);

/// Returns the versions in which the server serves anything of our group.
///
/// Errors:  kMalformed.
Result<std::vector<std::string>> DecodeGroupVersions(std::string text);

}  // namespace cnpa
