// SPDX-License-Identifier: Apache-2.0
#include "app/observe.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cnpa {
namespace {

/// One list being read into a vector, item by item. All items are parsed in the one document of the pass.
template <typename T>
struct Reading {
  std::vector<T> objects;
  Status status;

  void Begin(Client& client, const Collection& collection, JsonDocument& document,
             Result<T> (*decode)(JsonDocument&, std::string&), bool (*keep)(const T&)) {
    client.List(
        collection, [this] { objects.clear(); },
        [this, &collection, &document, decode, keep](std::string& item) -> Status {
          Result<T> object = decode(document, item);
          if (!object)
            return Annotate(std::move(object).error(), "decode an item of " + std::string(collection.words));
          if (keep(*object)) objects.push_back(*std::move(object));
          return {};
        },
        [this](Status done) { status = std::move(done); });
  }

  /// Sorts by `key` and refuses a list in which two objects have the same.
  Status Sort(std::string T::*key, const Collection& collection) {
    const auto before = [key](const T& left, const T& right) { return left.*key < right.*key; };
    if (!std::is_sorted(objects.begin(), objects.end(), before))
      std::sort(objects.begin(), objects.end(), before);
    const auto same =
        std::adjacent_find(objects.begin(), objects.end(),
                           [key](const T& left, const T& right) { return left.*key == right.*key; });
    if (same == objects.end()) return {};
    return Fail(ErrorCode::kMalformed,
                "list " + std::string(collection.words) + ": '" + *same.*key + "' is in it twice");
  }
};

template <typename T>
bool KeepAll(const T& /*object*/) {
  return true;
}

bool IsTeamNamespace(const Namespace& space) {
  return space.name.starts_with(kNamespacePrefix);
}

/// The server's 404 of a list says only that there is no such collection: its text is for developers.
Error Explain(Error error, const Collection& collection) {
  if (error.code == ErrorCode::kNotFound && &collection == &kTeamSpaces) {
    error.message = "the TeamSpace CRD is not installed: cnpa-op crd | kubectl apply -f -";
  }
  return error;
}

bool WaitsForUs(const TeamSpace& team_space) {
  return team_space.deleting() && std::find(team_space.finalizers.begin(), team_space.finalizers.end(),
                                            kFinalizer) != team_space.finalizers.end();
}

/// Deleting the CRD deletes every TeamSpace, and so every namespace, in one stroke; it is told apart from
/// deletions one by one only by looking at the CRD. Read after the list: the CRD is marked before the objects
/// are.
Result<CrdState> ReadCrdState(Client& client) {
  Result<std::string> crd = Fail(ErrorCode::kUnavailable, "not read");
  client.Get(std::string(kCrdPath), [&crd](Result<std::string> body) { crd = std::move(body); });
  client.RunUntilIdle();
  if (crd) return DecodeCrdState(*std::move(crd));
  if (crd.error().code == ErrorCode::kNotFound) return CrdState::kDeleting;
  if (crd.error().code != ErrorCode::kDenied) return tl::unexpected<Error>(std::move(crd).error());
  Result<std::string> discovery = Fail(ErrorCode::kUnavailable, "not read");
  client.Get(std::string(kDiscoveryPath),
             [&discovery](Result<std::string> body) { discovery = std::move(body); });
  client.RunUntilIdle();
  if (!discovery) return tl::unexpected<Error>(std::move(discovery).error());
  return DecodeDiscoveredCrdState(*std::move(discovery));
}

}  // namespace

Result<Observation> Observe(Client& client, Time now) {
  Reading<TeamSpace> team_spaces;
  Reading<Namespace> namespaces;
  Reading<Quota> quotas;
  JsonDocument document;
  team_spaces.Begin(client, kTeamSpaces, document, &DecodeTeamSpace, &KeepAll<TeamSpace>);
  namespaces.Begin(client, kNamespaces, document, &DecodeNamespace, &IsTeamNamespace);
  quotas.Begin(client, kQuotas, document, &DecodeQuota, &KeepAll<Quota>);
  client.RunUntilIdle();
  if (!team_spaces.status)
    return tl::unexpected<Error>(Explain(std::move(team_spaces.status).error(), kTeamSpaces));
  if (!namespaces.status)
    return tl::unexpected<Error>(Explain(std::move(namespaces.status).error(), kNamespaces));
  if (!quotas.status) return tl::unexpected<Error>(Explain(std::move(quotas.status).error(), kQuotas));
  for (const Status& sorted :
       {team_spaces.Sort(&TeamSpace::name, kTeamSpaces), namespaces.Sort(&Namespace::name, kNamespaces),
        quotas.Sort(&Quota::namespace_name, kQuotas)}) {
    if (!sorted) return tl::unexpected<Error>(sorted.error());
  }
  Observation observation{.team_spaces = std::move(team_spaces.objects),
                          .namespaces = std::move(namespaces.objects),
                          .quotas = std::move(quotas.objects),
                          .crd = CrdState::kServing,
                          .observed_at = now};
  if (std::any_of(observation.team_spaces.begin(), observation.team_spaces.end(), &WaitsForUs)) {
    const Result<CrdState> state = ReadCrdState(client);
    if (!state) return Annotate(state.error(), "read the TeamSpace CRD");
    observation.crd = *state;
  }
  return observation;
}

}  // namespace cnpa
