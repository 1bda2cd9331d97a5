// SPDX-License-Identifier: Apache-2.0
//
// Objects of any kind, as far as they are compared: labels and `spec`.
#pragma once

#include <map>
#include <string>

#include "core/objects/resource.h"
#include "core/objects/value.h"
#include "core/objects/writer.h"

namespace cnpa {

using Labels = std::map<std::string, std::string>;

/// An object that should be there. It is in no namespace.
struct DeclaredObject {
  Resource resource;
  std::string name;
  Labels labels;  ///< Without the mark.
  Value spec;

  bool operator==(const DeclaredObject&) const = default;
};

/// An object that is there.
struct ObservedObject {
  Resource resource;
  std::string name;
  std::string uid;
  std::string resource_version;
  Labels labels;
  Value spec;
  bool deleting = false;
  FieldWriters writers;  ///< By path: "spec", "spec.versions", for each member of `spec`.

  bool operator==(const ObservedObject&) const = default;
};

}  // namespace cnpa
