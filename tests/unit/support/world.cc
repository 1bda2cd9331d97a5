// SPDX-License-Identifier: Apache-2.0
#include "support/world.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "support/builders.h"

namespace cnpa {
namespace {

template <typename T>
T* Find(std::vector<T>& objects, std::string T::*key, const std::string& name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const T& object) { return object.*key == name; });
  return found == objects.end() ? nullptr : &*found;
}

template <typename T>
void EraseNamed(std::vector<T>& objects, std::string T::*key, const std::string& name) {
  std::erase_if(objects, [&](const T& object) { return object.*key == name; });
}

Status Lost(const std::string& what) {
  return Fail(ErrorCode::kConflict, what);
}

/// Performs each kind of effect for one chain.
class Server {
 public:
  Server(World& world, const Chain& chain) : world_(world), chain_(chain) {}

  Status operator()(const AddFinalizer& effect) {
    TeamSpace* team_space = Mine();
    if (team_space == nullptr) return Lost("team space");
    if (team_space->generation != chain_.generation) return Lost("generation");
    if (team_space->finalizers != effect.observed) return Lost("finalizers");
    if (team_space->deleting()) return Lost("no new finalizer on a deleting object");
    team_space->finalizers.emplace_back(kFinalizer);
    return {};
  }

  Status operator()(const RemoveFinalizer& effect) {
    TeamSpace* team_space = Mine();
    if (team_space == nullptr) return Lost("team space");
    std::vector<std::string>& finalizers = team_space->finalizers;
    for (const std::size_t place : effect.places) {
      if (place >= finalizers.size() || finalizers[place] != kFinalizer) return Lost("place");
      finalizers.erase(finalizers.begin() + static_cast<std::ptrdiff_t>(place));
    }
    if (finalizers.empty() && team_space->deleting())
      EraseNamed(world_.cluster.team_spaces, &TeamSpace::name, chain_.name);
    return {};
  }

  Status operator()(const CreateNamespace& effect) {
    if (Find(world_.cluster.namespaces, &Namespace::name, effect.name) != nullptr) return Lost("exists");
    world_.cluster.namespaces.push_back(
        {.name = effect.name, .uid = "made-" + effect.name, .team_space_label = chain_.name, .owners = {effect.owner}});
    return {};
  }

  Status operator()(const RepairNamespace& effect) {
    Namespace* space = Find(world_.cluster.namespaces, &Namespace::name, effect.name);
    if (space == nullptr || space->uid != effect.uid) return Lost("namespace");
    if (effect.claim == Claim::kLabel && space->team_space_label != chain_.name) return Lost("label");
    const bool by_reference = effect.owner_repair == OwnerRepair::kNone || effect.owner_repair == OwnerRepair::kReplace;
    if (by_reference &&
        (effect.index >= space->owners.size() || space->owners[effect.index].uid != effect.expected_uid)) {
      return Lost("owner");
    }
    if (effect.owner_repair == OwnerRepair::kCreateList) {
      if (!space->owners.empty()) return Lost("owners");
      space->owners = {effect.owner};
    } else if (effect.owner_repair == OwnerRepair::kAppend) {
      if (space->owners.empty()) return Lost("no list to append to");
      space->owners.push_back(effect.owner);
    } else if (effect.owner_repair == OwnerRepair::kReplace) {
      space->owners[effect.index] = effect.owner;
    }
    if (effect.set_label) space->team_space_label = chain_.name;
    return {};
  }

  Status operator()(const CreateQuota& effect) {
    const Namespace* space = Find(world_.cluster.namespaces, &Namespace::name, effect.namespace_name);
    if (space == nullptr) return Fail(ErrorCode::kNotFound, "namespace");
    if (space->terminating) return Fail(ErrorCode::kTerminating, "namespace");
    if (Find(world_.cluster.quotas, &Quota::namespace_name, effect.namespace_name) != nullptr) return Lost("exists");
    world_.cluster.quotas.push_back(
        {.namespace_name = effect.namespace_name, .uid = "made-quota", .hard = effect.hard});
    return {};
  }

  Status operator()(const RepairQuota& effect) {
    Quota* quota = Find(world_.cluster.quotas, &Quota::namespace_name, effect.namespace_name);
    if (quota == nullptr || quota->uid != effect.uid) return Lost("quota");
    if (quota->hard != effect.observed) return Lost("hard");
    quota->hard = effect.hard;
    return {};
  }

  Status operator()(const DeleteQuota& effect) {
    const Quota* quota = Find(world_.cluster.quotas, &Quota::namespace_name, effect.namespace_name);
    if (quota == nullptr) return Fail(ErrorCode::kNotFound, "quota");
    if (quota->uid != effect.uid) return Lost("uid");
    if (!quota->finalizers.empty()) return Terminate(effect.namespace_name);
    EraseNamed(world_.cluster.quotas, &Quota::namespace_name, effect.namespace_name);
    return {};
  }

  Status operator()(const WriteStatus& effect) {
    TeamSpace* team_space = Mine();
    if (team_space == nullptr) return Lost("team space");
    if (team_space->status != effect.observed) return Lost("status");
    const bool had_ready = team_space->status.ready.has_value();
    team_space->status = effect.desired;
    if (effect.awaits_uid) {
      const Namespace* made = Find(world_.cluster.namespaces, &Namespace::name, *effect.desired.namespace_name);
      team_space->status.namespace_uid = made->uid;
    }
    team_space->status.present = true;
    if (effect.desired.ready) team_space->status.has_conditions = true;
    if (!had_ready) team_space->status.ready_index = 0;
    return {};
  }

  // No TeamSpace's plan has these.
  Status operator()(const CreateObject& /*effect*/) { return {}; }
  Status operator()(const PatchObject& /*effect*/) { return {}; }
  Status operator()(const DeleteObject& /*effect*/) { return {}; }

  Status operator()(const WriteArchive& effect) {
    world_.archives.emplace(effect.uid, effect);
    return {};
  }

 private:
  Status Terminate(const std::string& space) {
    Find(world_.cluster.quotas, &Quota::namespace_name, space)->terminating = true;
    return {};
  }

  /// The team space of the chain, if it is still the same one.
  TeamSpace* Mine() {
    TeamSpace* team_space = Find(world_.cluster.team_spaces, &TeamSpace::name, chain_.name);
    return team_space != nullptr && team_space->uid == chain_.uid ? team_space : nullptr;
  }

  World& world_;
  const Chain& chain_;
};

TeamSpace RandomTeamSpace(Random& random, const std::string& name) {
  TeamSpace team_space = random.OneIn(3) ? NewTeamSpaceNamed(name) : TeamSpaceNamed(name);
  if (random.OneIn(3)) team_space.pods = static_cast<std::int64_t>(random.Below(4));
  if (random.OneIn(2))
    team_space.cpu = random.Pick(std::vector<std::string>{"2", "2000m", "0.5", "1e3", "0.0001", "lots", "0", "-1"});
  if (random.OneIn(3)) team_space.generation = static_cast<std::int64_t>(random.Below(4));
  if (random.OneIn(3)) {
    team_space.finalizers = {"a.example/x", std::string(kFinalizer), "b.example/y", std::string(kFinalizer)};
    random.Shuffle(team_space.finalizers);
    team_space.finalizers.resize(random.Below(5));
  }
  if (random.OneIn(4)) team_space.status.namespace_name = std::nullopt;
  if (random.OneIn(3)) team_space.status.namespace_uid = std::nullopt;
  if (random.OneIn(6) && team_space.status.ready) team_space.status.ready->reason = "ArchiveFailed";
  if (random.OneIn(4)) team_space.status.ready = std::nullopt;
  if (random.OneIn(6)) team_space.status.ready_index = 1;
  if (!team_space.status.ready) team_space.status.ready_index = 0;
  if (team_space.status.ready) team_space.status.has_conditions = true;
  team_space.status.present = team_space.status.present || team_space.status != TeamSpaceStatus();
  if (random.OneIn(4) && !team_space.finalizers.empty()) team_space.deletion_timestamp = kEarlierText;
  if (random.OneIn(16)) team_space.unreadable = "cannot read it";
  return team_space;
}

Namespace RandomNamespace(Random& random, const std::string& name, const std::vector<std::string>& names) {
  Namespace space = NamespaceFor(name);
  if (random.OneIn(3)) space.team_space_label = std::nullopt;
  if (random.OneIn(5)) space.team_space_label = random.Pick(names);
  if (random.OneIn(2)) {
    const std::vector<OwnerReference> any{
        OwnerOf(name),
        OwnerOf(name, "uid-old"),
        OwnerOf(random.Pick(names)),
        {"platform.labhub.io/v1", "TeamSpace", name, "uid-" + name},
        {"platform.labhub.io/v1", "TeamSpace", name, "uid-older"},
        {"v1", "ConfigMap", name, "uid-map"},
    };
    space.owners.clear();
    for (std::size_t count = random.Below(4); count > 0; --count) {
      const OwnerReference& owner = random.Pick(any);
      // The server keeps one reference a uid.
      if (std::none_of(space.owners.begin(), space.owners.end(),
                       [&owner](const OwnerReference& there) { return there.uid == owner.uid; }))
        space.owners.push_back(owner);
    }
  }
  if (random.OneIn(6)) space.terminating = true;
  if (random.OneIn(16)) space.unreadable = "cannot read it";
  return space;
}

Quota RandomQuota(Random& random, const std::string& name) {
  Quota quota = QuotaFor(name);
  if (random.OneIn(3)) quota.hard["pods"] = std::to_string(random.Below(8));
  if (random.OneIn(3)) quota.hard["requests.cpu"] = random.Pick(std::vector<std::string>{"2", "2k", "500m", "1m"});
  if (random.OneIn(4)) quota.hard.erase(random.OneIn(2) ? "pods" : "requests.cpu");
  if (random.OneIn(4)) quota.hard["limits.memory"] = "1Gi";
  if (random.OneIn(6)) quota.scoped = true;
  if (random.OneIn(5)) quota.finalizers = {"a.example/hold"};
  if (random.OneIn(3)) quota.terminating = !quota.finalizers.empty();
  if (random.OneIn(4)) quota.writers["spec.hard.pods"] = Writer{"kubectl-edit", "Update", "", kNow};
  if (random.OneIn(16)) quota.unreadable = "cannot read it";
  return quota;
}

}  // namespace

Status Perform(World& world, const Chain& chain, const Change& change) {
  return std::visit(Server(world, chain), change.effect);
}

Status Perform(World& world, const Plan& plan) {
  Status first;
  for (const Chain& chain : plan.chains) {
    for (const Change& change : chain.changes) {
      Status done = Perform(world, chain, change);
      if (done) continue;
      if (first) first = Annotate(std::move(done).error(), chain.name);
      break;
    }
  }
  return first;
}

void CollectGarbage(World& world) {
  const auto alive = [&world](const OwnerReference& owner) {
    if (owner.kind != kTeamSpaceKind) return true;
    return std::any_of(world.cluster.team_spaces.begin(), world.cluster.team_spaces.end(),
                       [&owner](const TeamSpace& team_space) { return team_space.uid == owner.uid; });
  };
  std::erase_if(world.cluster.namespaces, [&](const Namespace& space) {
    const bool abandoned = !space.owners.empty() && std::none_of(space.owners.begin(), space.owners.end(), alive);
    if (!abandoned && !space.terminating) return false;
    EraseNamed(world.cluster.quotas, &Quota::namespace_name, space.name);
    return true;
  });
}

World RandomWorld(Random& random) {
  const std::vector<std::string> names{"a", "b", "c", "d-1", "e.f"};
  World world;
  world.cluster.observed_at = kNow;
  for (const std::string& name : names) {
    if (!random.OneIn(4)) world.cluster.team_spaces.push_back(RandomTeamSpace(random, name));
    if (random.OneIn(3)) continue;
    world.cluster.namespaces.push_back(RandomNamespace(random, name, names));
    if (!random.OneIn(3)) world.cluster.quotas.push_back(RandomQuota(random, name));
  }
  if (random.OneIn(10)) world.cluster.crd.deleting = true;
  if (random.OneIn(10)) world.cluster.crd.has_conditions = false;
  if (random.OneIn(20)) world.cluster.crd.has_status = false;
  if (random.OneIn(2)) world.cluster.crd.has_namespace_uid = true;
  return world;
}

}  // namespace cnpa
