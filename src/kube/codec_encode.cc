// SPDX-License-Identifier: Apache-2.0
//
// Writes: POST for what is new, JSON Patch with `test` operations for what is there. A patch is evaluated by
// the server on the object as it is at that moment, so its tests are what makes it safe: the uid, and the old value.
#include <cassert>
#include <string>

#include "kube/codec.h"
#include "kube/json_patch.h"
#include "kube/json_writer.h"

namespace cnpa {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kWriteQuery = "?fieldManager=cnpa-op&fieldValidation=Strict";

std::string ObjectText(const std::function<void(JsonWriter&)>& members) {
  JsonWriter writer;
  writer.Object([&] { members(writer); });
  return writer.text();
}

Request PatchRequest(std::string path, std::string body) {
  return {.method = Method::kPatch,
          .path = std::move(path) + std::string(kWriteQuery),
          .content_type = std::string(kJsonPatch),
          .body = std::move(body)};
}

Request PostRequest(std::string path, std::string body) {
  return {.method = Method::kPost,
          .path = std::move(path) + std::string(kWriteQuery),
          .content_type = std::string(kJson),
          .body = std::move(body)};
}

std::string TeamSpacePath(const Chain& chain) {
  return std::string(kTeamSpaces.path) + "/" + chain.name;
}
std::string NamespacePath(const std::string& name) {
  return std::string(kNamespaces.path) + "/" + name;
}
std::string QuotaPath(const std::string& space) {
  return NamespacePath(space) + "/resourcequotas/" + std::string(kQuotaName);
}

void WriteOwner(JsonWriter& writer, const OwnerReference& owner) {
  writer.Object([&] {
    writer.String("apiVersion", owner.api_version);
    writer.String("kind", owner.kind);
    writer.String("name", owner.name);
    writer.String("uid", owner.uid);
  });
}

void WriteHard(JsonWriter& writer, const std::map<std::string, std::string>& hard) {
  writer.Object([&] {
    for (const auto& [key, value] : hard) writer.String(key, value);
  });
}

void WriteStrings(JsonWriter& writer, const std::vector<std::string>& strings) {
  writer.Array([&] {
    for (const std::string& string : strings) writer.String(string);
  });
}

void WriteCondition(JsonWriter& writer, const Condition& condition) {
  writer.Object([&] {
    writer.String("type", condition.type);
    writer.String("status", condition.status);
    if (condition.observed_generation) writer.Int("observedGeneration", *condition.observed_generation);
    writer.String("lastTransitionTime", condition.last_transition_time);
    writer.String("reason", condition.reason);
    writer.String("message", condition.message);
  });
}

/// Holds while the spec is the one that was listed.
void TestGeneration(JsonPatch& patch, const Chain& chain) {
  patch.Test("/metadata/generation", [&](JsonWriter& w) { w.Int(chain.generation); });
}

Request Encode(const Chain& chain, const AddFinalizer& effect) {
  return PatchRequest(TeamSpacePath(chain), PatchText(chain.uid, [&](JsonPatch& patch) {
                        TestGeneration(patch, chain);
                        if (effect.observed.empty()) {
                          patch.TestAbsent("/metadata/finalizers");
                          patch.Add("/metadata/finalizers",
                                    [](JsonWriter& w) { WriteStrings(w, {std::string(kFinalizer)}); });
                        } else {
                          patch.Test("/metadata/finalizers", [&](JsonWriter& w) { WriteStrings(w, effect.observed); });
                          patch.Add("/metadata/finalizers/-", kFinalizer);
                        }
                      }));
}

Request Encode(const Chain& chain, const RemoveFinalizer& effect) {
  const std::string path = "/metadata/finalizers/" + std::to_string(effect.index);
  return PatchRequest(TeamSpacePath(chain), PatchText(chain.uid, [&](JsonPatch& patch) {
                        // The archive has the spec that was listed.
                        TestGeneration(patch, chain);
                        patch.Test(path, kFinalizer);
                        patch.Remove(path);
                      }));
}

Request Encode(const Chain& chain, const CreateNamespace& effect) {
  return PostRequest(std::string(kNamespaces.path), ObjectText([&](JsonWriter& w) {
                       w.String("apiVersion", "v1");
                       w.String("kind", "Namespace");
                       w.Object("metadata", [&] {
                         w.String("name", effect.name);
                         w.Object("labels", [&] { w.String(kTeamSpaceLabel, chain.name); });
                         w.Array("ownerReferences", [&] { WriteOwner(w, effect.owner); });
                       });
                     }));
}

Request Encode(const Chain& chain, const RepairNamespace& effect) {
  const auto owner = [&](JsonWriter& w) { WriteOwner(w, effect.owner); };
  return PatchRequest(NamespacePath(effect.name), PatchText(effect.uid, [&](JsonPatch& patch) {
                        // Labels are never absent: the server keeps kubernetes.io/metadata.name there.
                        if (effect.set_label) patch.Add("/metadata/labels/platform.labhub.io~1teamspace", chain.name);
                        const std::string place = "/metadata/ownerReferences/" + std::to_string(effect.index);
                        switch (effect.owner_repair) {
                          case OwnerRepair::kNone: break;
                          case OwnerRepair::kCreateList:
                            patch.TestAbsent("/metadata/ownerReferences");
                            patch.Add("/metadata/ownerReferences", [&](JsonWriter& w) { w.Array([&] { owner(w); }); });
                            break;
                          case OwnerRepair::kAppend: patch.Add("/metadata/ownerReferences/-", owner); break;
                          case OwnerRepair::kReplace:
                            patch.Test(place + "/uid", effect.replaced_uid);
                            patch.Replace(place, owner);
                            break;
                        }
                      }));
}

Request Encode(const Chain& /*chain*/, const CreateQuota& effect) {
  return PostRequest(NamespacePath(effect.namespace_name) + "/resourcequotas", ObjectText([&](JsonWriter& w) {
                       w.String("apiVersion", "v1");
                       w.String("kind", "ResourceQuota");
                       w.Object("metadata", [&] { w.String("name", kQuotaName); });
                       w.Object("spec", [&] {
                         w.Key("hard");
                         WriteHard(w, effect.hard);
                       });
                     }));
}

Request Encode(const Chain& /*chain*/, const RepairQuota& effect) {
  return PatchRequest(QuotaPath(effect.namespace_name), PatchText(effect.uid, [&](JsonPatch& patch) {
                        // Not the resourceVersion: the quota controller moves it with every pod.
                        if (effect.observed.empty()) {
                          patch.TestAbsent("/spec/hard");
                        } else {
                          patch.Test("/spec/hard", [&](JsonWriter& w) { WriteHard(w, effect.observed); });
                        }
                        patch.Add("/spec/hard", [&](JsonWriter& w) { WriteHard(w, effect.hard); });
                      }));
}

Request Encode(const Chain& /*chain*/, const DeleteQuota& effect) {
  return {.method = Method::kDelete,
          .path = QuotaPath(effect.namespace_name),
          .content_type = std::string(kJson),
          .body = ObjectText([&](JsonWriter& w) {
            w.String("apiVersion", "v1");
            w.String("kind", "DeleteOptions");
            w.Object("preconditions", [&] { w.String("uid", effect.uid); });
          })};
}

void PatchWholeStatus(JsonPatch& patch, const TeamSpaceStatus& desired) {
  patch.TestAbsent("/status");
  patch.Add("/status", [&](JsonWriter& w) {
    w.Object([&] {
      if (desired.observed_generation) w.Int("observedGeneration", *desired.observed_generation);
      if (desired.namespace_name) w.String("namespace", *desired.namespace_name);
      if (desired.ready) w.Array("conditions", [&] { WriteCondition(w, *desired.ready); });
    });
  });
}

void PatchReady(JsonPatch& patch, const TeamSpaceStatus& observed, const Condition& ready) {
  const auto condition = [&](JsonWriter& w) { WriteCondition(w, ready); };
  if (!observed.has_conditions) {
    patch.TestAbsent("/status/conditions");
    patch.Add("/status/conditions", [&](JsonWriter& w) { w.Array([&] { condition(w); }); });
  } else if (!observed.ready) {
    patch.Add("/status/conditions/-", condition);
  } else {
    const std::string place = "/status/conditions/" + std::to_string(observed.ready_index);
    patch.Test(place + "/type", "Ready");
    // A pass that saw more than we did has written meanwhile: ours is out of date.
    if (observed.ready->observed_generation) {
      patch.Test(place + "/observedGeneration", [&](JsonWriter& w) { w.Int(*observed.ready->observed_generation); });
    }
    patch.Replace(place, condition);
  }
}

Request Encode(const Chain& chain, const WriteStatus& effect) {
  const TeamSpaceStatus& observed = effect.observed;
  const TeamSpaceStatus& desired = effect.desired;
  return PatchRequest(
      TeamSpacePath(chain) + "/status", PatchText(chain.uid, [&](JsonPatch& patch) {
        if (!observed.present) return PatchWholeStatus(patch, desired);
        if (desired.observed_generation != observed.observed_generation && desired.observed_generation) {
          if (observed.observed_generation) {
            patch.Test("/status/observedGeneration", [&](JsonWriter& w) { w.Int(*observed.observed_generation); });
          } else {
            patch.TestAbsent("/status/observedGeneration");
          }
          patch.Add("/status/observedGeneration", [&](JsonWriter& w) { w.Int(*desired.observed_generation); });
        }
        if (desired.namespace_name != observed.namespace_name) {
          if (observed.namespace_name) patch.Test("/status/namespace", *observed.namespace_name);
          if (desired.namespace_name) patch.Add("/status/namespace", *desired.namespace_name);
          if (!desired.namespace_name) patch.Remove("/status/namespace");
        }
        if (desired.ready && desired.ready != observed.ready) PatchReady(patch, observed, *desired.ready);
      }));
}

Request Encode(const Chain& /*chain*/, const WriteArchive& /*effect*/) {
  assert(false && "an archive is a file, not a request");
  return {};
}

}  // namespace

Request EncodeChange(const Chain& chain, const Change& change) {
  return std::visit([&chain](const auto& effect) { return Encode(chain, effect); }, change.effect);
}

std::string EncodeArchive(const WriteArchive& archive) {
  JsonWriter writer(JsonWriter::Layout::kIndented);
  writer.Object([&] {
    writer.Int("version", 1);
    writer.String("name", archive.name);
    writer.String("uid", archive.uid);
    if (archive.pods) writer.Int("pods", *archive.pods);
    if (!archive.pods) {
      writer.Key("pods");
      writer.Null();
    }
    writer.String("cpu", archive.cpu);
    writer.Int("generation", archive.generation);
    writer.String("deletedAt", archive.deleted_at);
    writer.String("archivedAt", archive.archived_at);
  });
  return writer.text() + "\n";
}

}  // namespace cnpa
