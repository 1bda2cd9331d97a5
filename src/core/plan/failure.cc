// SPDX-License-Identifier: Apache-2.0
#include "core/plan/failure.h"

#include <utility>

#include "base/text.h"
#include "core/permissions/unauthorized.h"
#include "core/plan/describe.h"

namespace cnpa {
namespace {

std::string Quoted(const std::optional<std::string>& value) {
  return value ? "'" + *value + "'" : "nothing";
}

}  // namespace

Refusal NamespaceTerminating(const std::string& name) {
  return {Reason::kNamespaceTerminating, "namespace " + name + " is being deleted; it is re-created once it is gone"};
}

std::optional<Refusal> ClassifyFailure(const Chain& chain, const Change& failed, const Error& error) {
  const auto refuse = [&error](Reason reason, const std::string& advice) {
    return Refusal{reason, Shortened(advice + ": " + error.message, kLongestMessage)};
  };
  const Description change = Describe(chain, failed);
  switch (error.code) {
    case ErrorCode::kTerminating: return NamespaceTerminating(NamespaceNameOf(chain.name));
    case ErrorCode::kDenied:
      return refuse(Reason::kForbidden,
                    IsUnauthorized(error)
                        ? "the server no longer accepts cnpa-op's credentials; a cluster admin can renew them"
                        : "cnpa-op is missing a permission that a cluster admin can grant");
    case ErrorCode::kMalformed:
      // The server did not understand it at all: that says nothing of what was asked for.
      if (change.action != Action::kArchive) return refuse(Reason::kWriteFailed, std::string(Description().advice));
      [[fallthrough]];
    case ErrorCode::kInvalid: return refuse(change.if_rejected, std::string(change.advice));
    case ErrorCode::kNotFound:
    case ErrorCode::kConflict:
    case ErrorCode::kUnreachable:
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnsupported:
    case ErrorCode::kStopped: break;
  }
  return std::nullopt;
}

Error AlterationError(const ObjectRef& object, const std::vector<FieldChange>& altered) {
  std::string message = object.Text() + ": ";
  const char* separator = "";
  for (const FieldChange& field : altered) {
    message += std::exchange(separator, ", ") + field.path + " was sent as " + Quoted(field.to) + " and kept as " +
               Quoted(field.from);
  }
  return {ErrorCode::kInvalid, message + ": an admission policy or webhook changes it"};
}

}  // namespace cnpa
