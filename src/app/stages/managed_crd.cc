// SPDX-License-Identifier: Apache-2.0
#include "app/stages/managed_crd.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "app/stages/manifest_texts.h"
#include "kube/codec/object_codec.h"
#include "kube/json/yaml.h"

namespace cnpa {

DeclaredObject KnownCrd() {
  const auto yaml = ParseYaml(std::string(kCrdYaml));
  assert(yaml);
  Result<DeclaredObject> crd = DecodeManifest(kCrdResource, YamlToJson(*yaml));
  assert(crd);
  // What the server fills in, so that what it keeps is what was sent.
  std::get<Value::Map>(crd->spec.data)["conversion"] = Value{Value::Map{{"strategy", Value{std::string("None")}}}};
  return *std::move(crd);
}

Result<CrdPlan> PlanCrd(Client& client, const Mark& mark) {
  Result<std::string> body = Fail(ErrorCode::kUnavailable, "not read");
  client.Get(ObjectPath(kCrdResource, kCrdName), [&body](Result<std::string> got) { body = std::move(got); });
  client.RunUntilIdle();
  if (!body && body.error().code == ErrorCode::kNotFound) return ComputeCrd(std::nullopt, KnownCrd(), mark);
  if (!body) return tl::unexpected<Error>(body.error());
  Result<ObservedObject> observed = DecodeObject(kCrdResource, *std::move(body));
  if (!observed) return tl::unexpected<Error>(Annotate(observed.error(), "the TeamSpace CRD").value());
  return ComputeCrd(*std::move(observed), KnownCrd(), mark);
}

}  // namespace cnpa
