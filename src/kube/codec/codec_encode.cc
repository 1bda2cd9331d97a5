// SPDX-License-Identifier: Apache-2.0
//
// Writes: POST for what is new, JSON Patch with `test` operations for what is there. A patch is evaluated by
// the server on the object as it is at that moment, so its tests are what makes it safe: the uid, and the old value.
#include <cassert>
#include <string>

#include "kube/codec/codec.h"
#include "kube/codec/object_codec.h"
#include "kube/codec/status_patch.h"
#include "kube/json/json_patch.h"
#include "kube/json/json_writer.h"

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
  return kTeamSpaceResource.path() + "/" + chain.name;
}
std::string NamespacePath(const std::string& name) {
  return kNamespaceResource.path() + "/" + name;
}
std::string QuotaPath(const std::string& space) {
  return kQuotaResource.path(space) + "/" + std::string(kQuotaName);
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
  return PatchRequest(TeamSpacePath(chain), PatchText(chain.uid, [&](JsonPatch& patch) {
                        // The archive has the spec that was listed.
                        TestGeneration(patch, chain);
                        for (const std::size_t place : effect.places) {
                          const std::string path = "/metadata/finalizers/" + std::to_string(place);
                          patch.Test(path, kFinalizer);
                          patch.Remove(path);
                        }
                      }));
}

Request Encode(const Chain& chain, const CreateNamespace& effect) {
  return PostRequest(kNamespaceResource.path(), ObjectText([&](JsonWriter& w) {
                       w.String("apiVersion", "v1");
                       w.String("kind", "Namespace");
                       w.Object("metadata", [&] {
                         w.String("name", effect.name);
                         w.Object("labels", [&] { w.String(kTeamSpaceLabel, chain.name); });
                         w.Array("ownerReferences", [&] { WriteOwner(w, effect.owner); });
                       });
                     }));
}

void PatchOwner(JsonPatch& patch, const RepairNamespace& effect) {
  const std::string list = "/metadata/ownerReferences";
  const std::string place = list + "/" + std::to_string(effect.index);
  const auto owner = [&](JsonWriter& w) { WriteOwner(w, effect.owner); };
  switch (effect.owner_repair) {
    case OwnerRepair::kNone: return patch.Test(place + "/uid", effect.expected_uid);
    case OwnerRepair::kCreateList:
      patch.TestAbsent(list);
      return patch.Add(list, [&](JsonWriter& w) { w.Array([&] { owner(w); }); });
    case OwnerRepair::kAppend: return patch.Add(list + "/-", owner);
    case OwnerRepair::kReplace: patch.Test(place + "/uid", effect.expected_uid); return patch.Replace(place, owner);
  }
}

Request Encode(const Chain& chain, const RepairNamespace& effect) {
  return PatchRequest(NamespacePath(effect.name), PatchText(effect.uid, [&](JsonPatch& patch) {
                        const std::string label = "/metadata/labels/platform.labhub.io~1teamspace";
                        // The label may have been withdrawn since; an ownerReference is tested where it stands.
                        if (effect.claim == Claim::kLabel) patch.Test(label, chain.name);
                        // Labels are never absent: the server keeps kubernetes.io/metadata.name there.
                        if (effect.set_label) patch.Add(label, chain.name);
                        PatchOwner(patch, effect);
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

Request Encode(const Chain& chain, const WriteStatus& effect) {
  return PatchRequest(TeamSpacePath(chain) + "/status", PatchText(chain.uid, [&](JsonPatch& patch) {
                        PatchStatus(patch, effect.observed, effect.desired);
                      }));
}

Request Encode(const Chain& /*chain*/, const CreateObject& effect) {
  return EncodeOperation(effect);
}

Request Encode(const Chain& /*chain*/, const PatchObject& effect) {
  return EncodeOperation(effect);
}

Request Encode(const Chain& /*chain*/, const DeleteObject& effect) {
  return EncodeOperation(effect);
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
    const auto text = [&writer](std::string_view key, const std::string& json) {
      if (json.empty()) return;
      writer.Key(key);
      writer.Raw(json);
    };
    if (!archive.texts) return;
    text("spec", archive.texts->spec);
    text("labels", archive.texts->labels);
    text("annotations", archive.texts->annotations);
  });
  return writer.text() + "\n";
}

}  // namespace cnpa
