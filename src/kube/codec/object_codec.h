// SPDX-License-Identifier: Apache-2.0
//
// Objects of any kind, as core/plan/declared compares them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/objects/object.h"
#include "core/plan/change.h"
#include "kube/http/transport.h"

namespace cnpa {

/// Returns where one object is read and written.
std::string ObjectPath(const Resource& resource, std::string_view name);

/// Reads an object that the server answered with.
///
/// Errors:  kMalformed when it is not one of `resource`, or has no name or uid.
Result<ObservedObject> DecodeObject(const Resource& resource, std::string text);

/// Reads a manifest: what examples/ has, and all that is part of the program.
///
/// Errors:  kMalformed.
Result<DeclaredObject> DecodeManifest(const Resource& resource, std::string json);

/// Returns the requests that make these changes. A patch and a deletion do nothing where the object is another one by
/// now, or, for a patch, another version of it.
Request EncodeOperation(const CreateObject& operation);
Request EncodeOperation(const PatchObject& operation);
Request EncodeOperation(const DeleteObject& operation);

}  // namespace cnpa
