// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/overloaded.h"
#include "kube/codec/codec.h"

namespace cnpa {
namespace {

template <typename T>
Result<Kept> DecodeWith(Result<T> (*decode)(JsonDocument&, std::string&), std::string& answer) {
  JsonDocument document;
  if (!WithinDepth(answer)) return Fail(ErrorCode::kMalformed, "it nests too deep");
  Result<T> kept = decode(document, answer);
  if (!kept) return tl::unexpected<Error>(std::move(kept).error());
  return *std::move(kept);
}

/// Of what is not whole nobody can say what was kept. A TeamSpace may be so for its spec, which is none of ours.
Result<Kept> OnlyReadable(Result<Kept> kept) {
  if (!kept) return kept;
  const auto* space = std::get_if<Namespace>(&*kept);
  const auto* quota = std::get_if<Quota>(&*kept);
  const std::string unreadable = space != nullptr   ? space->unreadable
                                 : quota != nullptr ? quota->unreadable
                                                    : std::string();
  if (!unreadable.empty()) return Fail(ErrorCode::kMalformed, unreadable);
  return kept;
}

}  // namespace

Result<Kept> DecodeKept(const Change& change, std::string answer) {
  const auto team_space = [&] { return DecodeWith(&DecodeTeamSpace, answer); };
  const auto space = [&] { return DecodeWith(&DecodeNamespace, answer); };
  const auto quota = [&] { return DecodeWith(&DecodeQuota, answer); };
  return OnlyReadable(std::visit(
      Overloaded{[&](const AddFinalizer&) { return team_space(); },
                 [&](const RemoveFinalizer&) { return team_space(); }, [&](const WriteStatus&) { return team_space(); },
                 [&](const CreateNamespace&) { return space(); }, [&](const RepairNamespace&) { return space(); },
                 [&](const CreateQuota&) { return quota(); }, [&](const RepairQuota&) { return quota(); },
                 // A Status, or the object if somebody's finalizer holds it.
                 [](const DeleteQuota&) { return Result<Kept>(Kept()); },
                 [](const WriteArchive&) { return Result<Kept>(Kept()); }},
      change.effect));
}

}  // namespace cnpa
