// SPDX-License-Identifier: Apache-2.0
//
// How the TeamSpace CRD is installed, and what is wrong with that in words: for `check`, and for a pass that gets no
// list of TeamSpaces.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/objects/objects.h"
#include "kube/api/client.h"
#include "kube/codec/codec_check.h"

namespace cnpa {

inline constexpr std::string_view kApplyCrd = "cnpa-op crd | kubectl apply -f -";

/// Begins the error of a server that knows no API at all; whoever knows its address puts that behind it.
inline constexpr std::string_view kNoApi = "no Kubernetes API";

/// Reads what a plan depends on: the CRD itself, or, where we may not read that, discovery and the published schema.
///
/// Errors:  of the request that failed.
Result<CrdFacts> ReadCrdFacts(Client& client);

/// Reads how the CRD is installed: the CRD itself, or, where we may not read that, what discovery tells of it.
///
/// Errors:  kNotFound, in words for the user: there is none; of the request that failed.
Result<CrdReport> ReadCrdReport(Client& client);

/// Returns what keeps the CRD from working, as predicates: "is not established"; empty when nothing does.
std::vector<std::string> CrdFaults(const CrdReport& crd);

/// Returns what to do about CrdFaults(): a scope can't be changed, a name that is taken must be given up by another
/// CRD, a deletion can't be taken back.
std::string CrdRemedy(const CrdReport& crd);

/// Returns whether `error`, of a path of the API, says that it is none to the server: 404, or a 403 of a path.
bool IsNoPathOfApi(const Error& error);

/// Returns the error where even namespaces are no path of the API.
Error NoApi();

/// Returns `error`, for which there is no list of TeamSpaces, in words for the user. A 404 has many causes, so the CRD
/// is asked for.
Error ExplainNoTeamSpaces(Client& client, Error error);

}  // namespace cnpa
