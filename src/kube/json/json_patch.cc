// SPDX-License-Identifier: Apache-2.0
#include "kube/json/json_patch.h"

namespace cnpa {

void JsonPatch::Operation(std::string_view op, std::string_view path, const Value& value) {
  writer_.Object([&] {
    writer_.String("op", op);
    writer_.String("path", path);
    if (!value) return;
    writer_.Key("value");
    value(writer_);
  });
}

std::string PatchText(std::string_view uid, const std::function<void(JsonPatch&)>& operations) {
  JsonWriter writer;
  writer.Array([&] {
    JsonPatch patch(writer);
    patch.Test("/metadata/uid", uid);
    operations(patch);
  });
  return writer.text();
}

}  // namespace cnpa
