// SPDX-License-Identifier: Apache-2.0
#include "app/stages/crd_state.h"

#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

#include "base/text.h"
#include "kube/codec/codec.h"

namespace cnpa {
namespace {

constexpr std::string_view kNotInstalled = "the TeamSpace CRD is not installed";
constexpr std::string_view kNotServed =
    "the TeamSpace CRD is not installed, or the server does not accept its names (only who may read CRDs can tell)";

/// Reads one document, now.
Result<std::string> Read(Client& client, std::string_view path) {
  Result<std::string> body = Fail(ErrorCode::kUnavailable, "not read");
  client.Get(std::string(path), [&body](Result<std::string> got) { body = std::move(got); });
  client.RunUntilIdle();
  return body;
}

template <typename T>
tl::unexpected<Error> ErrorFrom(const Result<T>& result) {
  return tl::unexpected<Error>(result.error());
}

/// Returns the versions of our group, but ours, in which the server serves TeamSpaces.
Result<std::vector<std::string>> ReadOtherVersions(Client& client) {
  Result<std::string> group = Read(client, kGroupPath);
  if (!group) return ErrorFrom(group);
  const Result<std::vector<std::string>> versions = DecodeGroupVersions(*std::move(group));
  if (!versions) return ErrorFrom(versions);
  std::vector<std::string> serving;
  for (const std::string& version : *versions) {
    const std::string path = std::string(kGroupPath) + "/" + version;
    if (path == kDiscoveryPath) continue;
    Result<std::string> served = Read(client, path);
    if (!served) return ErrorFrom(served);
    const Result<CrdReport> report = DecodeDiscoveryReport(*std::move(served));
    if (!report) return ErrorFrom(report);
    if (report->served) serving.push_back(version);
  }
  return serving;
}

Result<CrdReport> ReadDiscoveryReport(Client& client) {
  Result<std::string> served = Read(client, kDiscoveryPath);
  if (!served && served.error().code != ErrorCode::kNotFound) return ErrorFrom(served);
  // Another CRD of the group may have a version of that name.
  CrdReport report{.established = true, .cluster_scoped = true};
  if (served) {
    Result<CrdReport> decoded = DecodeDiscoveryReport(*std::move(served));
    if (!decoded || decoded->served) return decoded;
    report = *decoded;
  }
  Result<std::vector<std::string>> others = ReadOtherVersions(client);
  if (!others && others.error().code != ErrorCode::kNotFound) return ErrorFrom(others);
  if (!others || others->empty()) return Fail(ErrorCode::kNotFound, std::string(kNotServed));
  report.served_versions = *std::move(others);
  return report;
}

/// Source:  k8s.io/apiserver/pkg/storage, StoreReadError, from 1.32 on; before that the webhook's failure stands alone.
bool IsUnreadableStorage(std::string_view message) {
  return Contains(message, "failed to read one or more teamspaces.platform.labhub.io from the storage") ||
         Contains(message, "conversion webhook for");
}

bool IsServed(const CrdReport& crd) {
  return crd.established && crd.served && crd.cluster_scoped && !crd.deleting;
}

}  // namespace

Result<CrdFacts> ReadCrdFacts(Client& client) {
  Result<std::string> crd = Read(client, kCrdPath);
  if (crd) return DecodeCrd(*std::move(crd));
  // Its objects were just listed, so it is on its last breath.
  if (crd.error().code == ErrorCode::kNotFound) return CrdFacts{.deleting = true};
  if (crd.error().code != ErrorCode::kDenied) return ErrorFrom(crd);
  Result<std::string> discovery = Read(client, kDiscoveryPath);
  if (!discovery) return ErrorFrom(discovery);
  Result<CrdFacts> facts = DecodeDiscovery(*std::move(discovery));
  if (!facts || facts->deleting) return facts;
  Result<std::string> schema = Read(client, kOpenApiPath);
  // A CRD that was just installed is published a moment later; until then it is taken for ours.
  if (!schema) return schema.error().code == ErrorCode::kNotFound ? facts : Result<CrdFacts>(ErrorFrom(schema));
  return DecodePublishedSchema(*std::move(schema), *facts);
}

Result<CrdReport> ReadCrdReport(Client& client) {
  Result<std::string> crd = Read(client, kCrdPath);
  if (crd) return DecodeCrdReport(*std::move(crd));
  if (crd.error().code == ErrorCode::kNotFound) return Fail(ErrorCode::kNotFound, std::string(kNotInstalled));
  if (crd.error().code != ErrorCode::kDenied) return ErrorFrom(crd);
  return ReadDiscoveryReport(client);
}

std::vector<std::string> CrdFaults(const CrdReport& crd) {
  std::vector<std::string> faults;
  if (crd.deleting) faults.emplace_back("is being deleted, with all team spaces");
  if (!crd.established) {
    faults.push_back("is not established" + (crd.refusal.empty() ? "" : " (" + crd.refusal + ")"));
  }
  if (!crd.served) {
    const std::string others = fmt::format("{}", fmt::join(crd.served_versions, ", "));
    faults.push_back("does not serve v1alpha1" + (others.empty() ? "" : " (but " + others + ")"));
  }
  if (!crd.cluster_scoped) faults.emplace_back("is not cluster scoped");
  if (!crd.served) return faults;
  if (!crd.has_status) faults.emplace_back("has no status subresource");
  faults.insert(faults.end(), crd.differences.begin(), crd.differences.end());
  return faults;
}

std::string CrdRemedy(const CrdReport& crd) {
  if (crd.deleting) {
    return "to keep the namespaces, save the TeamSpaces (kubectl get ts -o yaml), take the ownerReferences off their "
           "namespaces, make a pass with --allow-crd-deletion, then apply the CRD and the TeamSpaces again";
  }
  if (!crd.cluster_scoped) {
    return fmt::format("the scope can't be changed: delete the CRD, and with it its objects, then: {}", kApplyCrd);
  }
  if (!crd.established) {
    return crd.refusal.empty() ? "wait a moment, then see: kubectl describe crd teamspaces.platform.labhub.io"
                               : "another CRD has that name, and must give it up: kubectl get crd | grep labhub.io";
  }
  // Ours in place of it would be refused: versions in which objects are stored must stay.
  if (!crd.served && !crd.served_versions.empty()) {
    return "serve v1alpha1 as well, as cnpa-op crd prints it: kubectl edit crd teamspaces.platform.labhub.io";
  }
  return std::string(kApplyCrd);
}

/// Source:  k8s.io/apiserver/pkg/endpoints/handlers/responsewriters, forbiddenMessage: what it is to the server.
bool IsNoPathOfApi(const Error& error) {
  return error.code == ErrorCode::kNotFound || Contains(error.message, "\" cannot get path \"");
}

Error NoApi() {
  return {ErrorCode::kNotFound, std::string(kNoApi) + ": check 'server' in the kubeconfig, its path included"};
}

Error ExplainNoTeamSpaces(Client& client, Error error) {
  if (IsUnreadableStorage(error.message)) {
    error.message +=
        ": see that the webhook of its spec.conversion answers: kubectl describe crd teamspaces.platform.labhub.io";
  }
  const bool missing = error.code == ErrorCode::kNotFound;
  if (!missing && !error.message.ends_with(kInNamespace)) return error;
  const Result<CrdReport> crd = ReadCrdReport(client);
  if (!crd && crd.error().code == ErrorCode::kNotFound) {
    if (missing) error.message = fmt::format("{}: {}", crd.error().message, kApplyCrd);
  } else if (!crd) {
    error.message += "; why is not known: " + crd.error().message;
  } else if (missing ? !IsServed(*crd) : !crd->cluster_scoped) {
    error.message = fmt::format("the TeamSpace CRD {}: {}", fmt::join(CrdFaults(*crd), ", "), CrdRemedy(*crd));
  } else if (missing) {
    error.message += ": the TeamSpace CRD is established, so the server may serve it in a moment";
  }
  return error;
}

}  // namespace cnpa
