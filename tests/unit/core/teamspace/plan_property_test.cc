// SPDX-License-Identifier: Apache-2.0
//
// Laws of ComputePlan over thousands of small clusters in any state:
//
//   plan(apply(plan(o), o)) is empty         one pass is enough, and a second one writes nothing
//   apply(plan(o), o) differs from o         only in what is ours
//   plan(shuffle(o)) = plan(o)
#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/plan/change.h"
#include "core/teamspace/desired.h"
#include "core/teamspace/plan.h"
#include "support/builders.h"
#include "support/describe.h"
#include "support/world.h"

namespace cnpa {
namespace {

constexpr std::uint32_t kWorlds = 2000;

template <typename T>
const T* Find(const std::vector<T>& objects, std::string T::*key, const std::string& name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const T& object) { return object.*key == name; });
  return found == objects.end() ? nullptr : &*found;
}

/// Whether a namespace is ours to write to, by the words of the contract.
bool IsOurs(const Namespace& space, const TeamSpace& team_space) {
  bool of_another = false;
  for (const OwnerReference& owner : space.owners) {
    if (owner.uid == team_space.uid) return true;
    if (owner.kind == "TeamSpace" && owner.name != team_space.name) of_another = true;
  }
  return !of_another && (space.team_space_label == team_space.name || team_space.status.namespace_uid == space.uid);
}

/// The namespace that a change writes to or into, if it does.
std::optional<std::string> NamespaceOf(const Effect& effect) {
  if (const auto* create = std::get_if<CreateNamespace>(&effect)) return create->name;
  if (const auto* repair = std::get_if<RepairNamespace>(&effect)) return repair->name;
  if (const auto* create = std::get_if<CreateQuota>(&effect)) return create->namespace_name;
  if (const auto* repair = std::get_if<RepairQuota>(&effect)) return repair->namespace_name;
  if (const auto* remove = std::get_if<DeleteQuota>(&effect)) return remove->namespace_name;
  return std::nullopt;
}

TEST_CASE("ComputePlan: applying a plan once leaves nothing to write", "[core][plan][property]") {
  std::size_t changes = 0;
  for (std::uint32_t seed = 0; seed < kWorlds; ++seed) {
    Random random(seed);
    World world = RandomWorld(random);
    const Plan plan = ComputePlan(world.cluster);
    CAPTURE(seed);
    for (const Chain& chain : plan.chains) changes += chain.changes.size();
    // Every guard holds in the world that the plan was made from.
    REQUIRE(ErrorOf(Perform(world, plan)) == std::nullopt);
    world.cluster.observed_at += std::chrono::hours(1);
    const Plan second = ComputePlan(world.cluster);
    if (!second.empty()) FAIL(Describe(plan) << "and then\n" << Describe(second));
  }
  CHECK(changes > kWorlds);
}

TEST_CASE("ComputePlan: with the garbage collector at work a few passes end in peace", "[core][plan][property]") {
  for (std::uint32_t seed = 0; seed < kWorlds; ++seed) {
    Random random(seed);
    World world = RandomWorld(random);
    int passes = 0;
    for (; passes < 6; ++passes) {
      const Plan plan = ComputePlan(world.cluster);
      const std::size_t namespaces = world.cluster.namespaces.size();
      REQUIRE(ErrorOf(Perform(world, plan)) == std::nullopt);
      CollectGarbage(world);
      if (plan.empty() && namespaces == world.cluster.namespaces.size()) break;
    }
    CAPTURE(seed);
    REQUIRE(passes < 6);
    // Whoever is not refused is served, exactly.
    const Plan last = ComputePlan(world.cluster);
    for (const TeamSpace& team_space : world.cluster.team_spaces) {
      if (team_space.deleting() || ChainOf(last, team_space.name).refusal) continue;
      const std::string name = "team-" + team_space.name;
      CAPTURE(name);
      const Namespace* space = Find(world.cluster.namespaces, &Namespace::name, name);
      REQUIRE(space != nullptr);
      REQUIRE(IsOurs(*space, team_space));
      REQUIRE(space->team_space_label == team_space.name);
      const Quota* quota = Find(world.cluster.quotas, &Quota::namespace_name, name);
      REQUIRE(quota != nullptr);
      REQUIRE(quota->hard.size() == 2);
      REQUIRE(SameQuantity(quota->hard.at("pods"), std::to_string(*team_space.pods)));
      REQUIRE(SameQuantity(quota->hard.at("requests.cpu"), team_space.cpu));
      REQUIRE(team_space.status.observed_generation == team_space.generation);
      REQUIRE(std::count(team_space.finalizers.begin(), team_space.finalizers.end(), kFinalizer) >= 1);
    }
  }
}

TEST_CASE("ComputePlan never touches what is not ours", "[core][plan][property]") {
  for (std::uint32_t seed = 0; seed < kWorlds; ++seed) {
    Random random(seed);
    const World world = RandomWorld(random);
    const Plan plan = ComputePlan(world.cluster);
    for (const Chain& chain : plan.chains) {
      const TeamSpace* team_space = Find(world.cluster.team_spaces, &TeamSpace::name, chain.name);
      REQUIRE(team_space != nullptr);
      for (const Change& change : chain.changes) {
        CAPTURE(seed, chain.name);
        if (const auto* archive = std::get_if<WriteArchive>(&change.effect)) {
          REQUIRE(archive->uid == team_space->uid);
          REQUIRE(team_space->deleting());
        }
        const std::optional<std::string> name = NamespaceOf(change.effect);
        if (!name) continue;
        REQUIRE(*name == "team-" + team_space->name);
        REQUIRE_FALSE(team_space->deleting());  // A deleting one's namespace is the collector's.
        const Namespace* space = Find(world.cluster.namespaces, &Namespace::name, *name);
        if (space == nullptr) continue;
        REQUIRE_FALSE(space->terminating);
        REQUIRE(space->unreadable.empty());
        REQUIRE(IsOurs(*space, *team_space));
      }
    }
  }
}

std::vector<std::string> Others(std::vector<std::string> finalizers) {
  std::erase(finalizers, std::string(kFinalizer));
  return finalizers;
}

std::vector<OwnerReference> Others(std::vector<OwnerReference> owners, const std::string& team_space) {
  std::erase_if(owners, [&team_space](const OwnerReference& owner) {
    return owner.kind == "TeamSpace" && (owner.name == team_space || owner.uid == "uid-" + team_space);
  });
  return owners;
}

TEST_CASE("ComputePlan: finalizers, owners and namespaces of others are as before, in their order",
          "[core][plan][property]") {
  for (std::uint32_t seed = 0; seed < kWorlds; ++seed) {
    Random random(seed);
    World world = RandomWorld(random);
    const Observation before = world.cluster;
    REQUIRE(Perform(world, ComputePlan(world.cluster)));
    CAPTURE(seed);
    for (const TeamSpace& team_space : world.cluster.team_spaces) {
      const TeamSpace* old = Find(before.team_spaces, &TeamSpace::name, team_space.name);
      REQUIRE(old != nullptr);
      REQUIRE(Others(team_space.finalizers) == Others(old->finalizers));
      REQUIRE(team_space.pods == old->pods);
      REQUIRE(team_space.cpu == old->cpu);
    }
    for (const Namespace& old : before.namespaces) {
      const Namespace* now = Find(world.cluster.namespaces, &Namespace::name, old.name);
      REQUIRE(now != nullptr);  // No plan deletes a namespace.
      const std::string team_space = old.name.substr(5);
      REQUIRE(Others(now->owners, team_space) == Others(old.owners, team_space));
      const TeamSpace* owner = Find(before.team_spaces, &TeamSpace::name, team_space);
      if (owner != nullptr && IsOurs(old, *owner)) continue;
      REQUIRE(*now == old);
      const Quota* old_quota = Find(before.quotas, &Quota::namespace_name, old.name);
      const Quota* now_quota = Find(world.cluster.quotas, &Quota::namespace_name, old.name);
      REQUIRE((old_quota == nullptr) == (now_quota == nullptr));
      if (old_quota != nullptr) REQUIRE(*now_quota == *old_quota);
    }
  }
}

TEST_CASE("ComputePlan is the same whatever the order of the lists", "[core][plan][property]") {
  for (std::uint32_t seed = 0; seed < kWorlds; ++seed) {
    Random random(seed);
    Observation cluster = RandomWorld(random).cluster;
    const Plan plan = ComputePlan(cluster);
    random.Shuffle(cluster.team_spaces);
    random.Shuffle(cluster.namespaces);
    random.Shuffle(cluster.quotas);
    CAPTURE(seed);
    REQUIRE(ComputePlan(cluster) == plan);
  }
}

TEST_CASE("ComputePlan gives every change its reason, and both values where some were compared",
          "[core][plan][property]") {
  for (std::uint32_t seed = 0; seed < kWorlds; ++seed) {
    Random random(seed);
    const Plan plan = ComputePlan(RandomWorld(random).cluster);
    for (const Chain& chain : plan.chains) {
      REQUIRE((!chain.changes.empty() || chain.refusal));
      if (chain.refusal) REQUIRE_FALSE(chain.refusal->message.empty());
      for (const Change& change : chain.changes) {
        CAPTURE(seed, chain.name);
        REQUIRE((change.cause == Cause::kBeingDeleted) == chain.deleting);
        const bool compared = change.cause == Cause::kDiffers || change.cause == Cause::kBehind;
        REQUIRE((compared ? !change.fields.empty() : true));
        for (const FieldChange& field : change.fields) {
          REQUIRE_FALSE(field.path.empty());
          REQUIRE((field.from || field.to));
          REQUIRE(field.from != field.to);
          REQUIRE((!field.absence || !field.from));
        }
      }
    }
  }
}

TEST_CASE("ComputePlan: what a pass archives is what it releases, and nothing else", "[core][plan][property]") {
  for (std::uint32_t seed = 0; seed < kWorlds; ++seed) {
    Random random(seed);
    World world = RandomWorld(random);
    const Observation before = world.cluster;
    REQUIRE(Perform(world, ComputePlan(world.cluster)));
    CAPTURE(seed);
    for (const TeamSpace& old : before.team_spaces) {
      const TeamSpace* now = Find(world.cluster.team_spaces, &TeamSpace::name, old.name);
      const auto ours = [](const TeamSpace& team_space) {
        return std::count(team_space.finalizers.begin(), team_space.finalizers.end(), kFinalizer);
      };
      const bool released = ours(old) > (now != nullptr ? ours(*now) : 0);
      REQUIRE(world.archives.contains(old.uid) == released);
      if (released) REQUIRE(old.deleting());
    }
  }
}

}  // namespace
}  // namespace cnpa
