// SPDX-License-Identifier: Apache-2.0
#include "app/stages/observe.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "app/stages/crd_state.h"
#include "core/plan/describe.h"
#include "kube/codec/codec_sight.h"

namespace cnpa {
namespace {

/// One list being read into a vector, item by item. All items are parsed in the one document of the pass.
template <typename T>
struct Reading {
  std::vector<T> objects;
  Result<std::string> version;  ///< Or why there is no list.

  using Decode = std::function<Result<T>(JsonDocument&, std::string&)>;

  void Begin(Client& client, const Collection& collection, JsonDocument& document, Decode decode,
             bool (*keep)(const T&)) {
    client.List(
        collection, [this] { objects.clear(); },
        [this, &collection, &document, decode = std::move(decode), keep](std::string& item) -> Status {
          Result<T> object = decode(document, item);
          if (!object)
            return Annotate(std::move(object).error(), "decode an item of " + std::string(collection.resource.plural));
          if (keep(*object)) objects.push_back(*std::move(object));
          return {};
        },
        [this](Result<std::string> listed) { version = std::move(listed); });
  }

  /// Sorts by `key` and refuses a list in which two objects have the same.
  Status Sort(std::string T::*key, const Collection& collection) {
    const auto before = [key](const T& left, const T& right) { return left.*key < right.*key; };
    if (!std::is_sorted(objects.begin(), objects.end(), before)) std::sort(objects.begin(), objects.end(), before);
    const auto same = std::adjacent_find(objects.begin(), objects.end(),
                                         [key](const T& left, const T& right) { return left.*key == right.*key; });
    if (same == objects.end()) return {};
    return Fail(ErrorCode::kMalformed,
                "list " + std::string(collection.resource.plural) + ": '" + *same.*key + "' is in it twice");
  }
};

template <typename T>
bool KeepAll(const T& /*object*/) {
  return true;
}

bool IsTeamNamespace(const Namespace& space) {
  return space.name.starts_with(kNamespacePrefix);
}

/// Returns the error of a list that there is not; nothing when there are all.
std::optional<Error> ListError(Client& client, const Result<std::string>& team_spaces,
                               const Result<std::string>& namespaces, const Result<std::string>& quotas) {
  if (!team_spaces) {
    const bool no_api = IsNoPathOfApi(team_spaces.error()) && !namespaces && IsNoPathOfApi(namespaces.error());
    return no_api ? NoApi() : ExplainNoTeamSpaces(client, team_spaces.error());
  }
  if (!namespaces) return namespaces.error();
  if (!quotas) return quotas.error();
  return std::nullopt;
}

Reading<TeamSpace>::Decode SeeingTeamSpaces(Sights* sights) {
  if (sights == nullptr) return &DecodeTeamSpace;
  return [sights](JsonDocument& document, std::string& item) {
    Result<TeamSpace> team_space = DecodeTeamSpace(document, item);
    if (team_space) sights->created[team_space->name] = DecodeCreationTime(document);
    return team_space;
  };
}

Reading<Quota>::Decode SeeingQuotas(Sights* sights) {
  if (sights == nullptr) return &DecodeQuota;
  return [sights](JsonDocument& document, std::string& item) {
    Result<Quota> quota = DecodeQuota(document, item);
    if (quota) sights->used[quota->namespace_name] = DecodeUsed(document);
    return quota;
  };
}

/// Decodes an object and looks at it closely.
template <typename T>
typename Reading<T>::Decode SeeingClosely(Result<T> (*decode)(JsonDocument&, std::string&), ObjectSight& sight) {
  return [decode, &sight](JsonDocument& document, std::string& item) {
    Result<T> object = decode(document, item);
    if (object) sight = DecodeSight(document);
    return object;
  };
}

/// The three lists, and how an item of each becomes an object.
struct Lists {
  Collection team_spaces = kTeamSpaces;
  Collection namespaces = kNamespaces;
  Collection quotas = kQuotas;
  Reading<TeamSpace>::Decode decode_team_space;
  Reading<Namespace>::Decode decode_namespace;
  Reading<Quota>::Decode decode_quota;
};

Status ReadCrd(Client& client, Observation& observation) {
  const Result<CrdFacts> facts = ReadCrdFacts(client);
  if (!facts) return Annotate(facts.error(), "read the TeamSpace CRD");
  observation.crd = *facts;
  return {};
}

Result<Observation> ObserveLists(Client& client, Time now, const Lists& lists, ListVersions* versions = nullptr) {
  Reading<TeamSpace> team_spaces;
  Reading<Namespace> namespaces;
  Reading<Quota> quotas;
  JsonDocument document;
  team_spaces.Begin(client, lists.team_spaces, document, lists.decode_team_space, &KeepAll<TeamSpace>);
  namespaces.Begin(client, lists.namespaces, document, lists.decode_namespace, &IsTeamNamespace);
  quotas.Begin(client, lists.quotas, document, lists.decode_quota, &KeepAll<Quota>);
  client.RunUntilIdle();
  if (std::optional<Error> error = ListError(client, team_spaces.version, namespaces.version, quotas.version)) {
    return tl::unexpected<Error>(*std::move(error));
  }
  for (const Status& sorted :
       {team_spaces.Sort(&TeamSpace::name, kTeamSpaces), namespaces.Sort(&Namespace::name, kNamespaces),
        quotas.Sort(&Quota::namespace_name, kQuotas)}) {
    if (!sorted) return tl::unexpected<Error>(sorted.error());
  }
  if (versions != nullptr) {
    *versions = {*std::move(team_spaces.version), *std::move(namespaces.version), *std::move(quotas.version)};
  }
  Observation observation{.team_spaces = std::move(team_spaces.objects),
                          .namespaces = std::move(namespaces.objects),
                          .quotas = std::move(quotas.objects),
                          .crd = {},
                          .observed_at = now};
  if (MustReadCrd(observation)) {
    if (Status read = ReadCrd(client, observation); !read) return tl::unexpected<Error>(std::move(read).error());
  }
  return observation;
}

bool WritesStatus(const Plan& plan) {
  return std::any_of(plan.chains.begin(), plan.chains.end(),
                     [](const Chain& chain) { return Has(chain, Action::kWriteStatus); });
}

}  // namespace

Result<Observation> Observe(Client& client, Time now, Sights* sights, ListVersions* versions) {
  return ObserveLists(client, now,
                      {.decode_team_space = SeeingTeamSpaces(sights),
                       .decode_namespace = &DecodeNamespace,
                       .decode_quota = SeeingQuotas(sights)},
                      versions);
}

Result<Observation> ObserveOne(Client& client, Time now, const std::string& name, CloseSights& sights) {
  const std::string space = NamespaceNameOf(name);
  Lists lists{.decode_team_space = SeeingClosely(&DecodeTeamSpace, sights.team_space),
              .decode_namespace = SeeingClosely(&DecodeNamespace, sights.space),
              .decode_quota = SeeingClosely(&DecodeQuota, sights.quota)};
  lists.team_spaces.selector = OfName(name);
  lists.namespaces.selector = OfName(space);
  lists.quotas.namespace_name = space;
  return ObserveLists(client, now, lists);
}

Result<bool> ReadCrdFor(Client& client, const Plan& plan, Observation& observation) {
  if (!WritesStatus(plan) || MustReadCrd(observation)) return false;
  if (Status read = ReadCrd(client, observation); !read) return tl::unexpected<Error>(std::move(read).error());
  return true;
}

Result<std::vector<TeamSpace>> ObserveTeamSpaces(Client& client, Sights& sights) {
  Reading<TeamSpace> team_spaces;
  JsonDocument document;
  team_spaces.Begin(client, kTeamSpaces, document, SeeingTeamSpaces(&sights), &KeepAll<TeamSpace>);
  client.RunUntilIdle();
  if (!team_spaces.version) {
    return tl::unexpected<Error>(ExplainNoTeamSpaces(client, std::move(team_spaces.version).error()));
  }
  if (Status sorted = team_spaces.Sort(&TeamSpace::name, kTeamSpaces); !sorted) {
    return tl::unexpected<Error>(std::move(sorted).error());
  }
  return std::move(team_spaces.objects);
}

}  // namespace cnpa
