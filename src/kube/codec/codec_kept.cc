// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <utility>

#include "core/plan/compare.h"
#include "core/teamspace/kept.h"
#include "kube/codec/codec.h"
#include "kube/codec/object_codec.h"

namespace cnpa {
namespace {

using Alterations = Result<std::vector<FieldChange>>;

/// Reads what the server answered to each operation, and holds it against what was sent.
class Kept {
 public:
  Kept(const Chain& chain, std::string& answer) : chain_(chain), answer_(answer) {}

  Alterations operator()(const AddFinalizer& /*sent*/) { return TeamSpaceAfterFinalizer(true); }
  Alterations operator()(const RemoveFinalizer& /*sent*/) { return TeamSpaceAfterFinalizer(false); }
  Alterations operator()(const CreateNamespace& sent) { return NamespaceWith(sent.owner); }
  Alterations operator()(const RepairNamespace& sent) { return NamespaceWith(sent.owner); }
  Alterations operator()(const CreateQuota& sent) { return QuotaWith(sent.hard); }
  Alterations operator()(const RepairQuota& sent) { return QuotaWith(sent.hard); }
  // A Status, or the object if somebody's finalizer holds it.
  Alterations operator()(const DeleteQuota& /*sent*/) { return {}; }
  Alterations operator()(const WriteArchive& /*sent*/) { return {}; }

  Alterations operator()(const DeleteObject& /*sent*/) { return {}; }
  Alterations operator()(const CreateObject& sent) { return ObjectAs(*sent.object); }
  Alterations operator()(const PatchObject& sent) { return ObjectAs(*sent.object); }

  Alterations operator()(const WriteStatus& sent) {
    return Compare(&DecodeTeamSpace, [&](const TeamSpace& kept) { return AlterationsOf(kept.status, sent.desired); });
  }

 private:
  Alterations TeamSpaceAfterFinalizer(bool on) {
    return Compare(&DecodeTeamSpace, [on](const TeamSpace& kept) { return AlterationsOf(kept, on); });
  }

  Alterations NamespaceWith(const OwnerReference& owner) {
    return CompareWhole(&DecodeNamespace,
                        [&](const Namespace& kept) { return AlterationsOf(kept, chain_.name, owner); });
  }

  Alterations QuotaWith(const std::map<std::string, std::string>& hard) {
    return CompareWhole(&DecodeQuota, [&](const Quota& kept) { return AlterationsOf(kept, hard); });
  }

  Alterations ObjectAs(const DeclaredObject& sent) {
    const Result<ObservedObject> kept = DecodeObject(sent.resource, std::move(answer_));
    if (!kept) return tl::unexpected<Error>(kept.error());
    std::vector<FieldChange> altered = CompareObjects(*kept, sent);
    for (FieldChange& field : altered) field.writer.reset();
    return altered;
  }

  template <typename T>
  using Decoder = Result<T> (*)(JsonDocument&, std::string&);

  /// What is unreadable of a TeamSpace is its spec, which is none of ours.
  template <typename T, typename Alter>
  Alterations Compare(Decoder<T> decode, const Alter& alterations) {
    JsonDocument document;
    if (!WithinDepth(answer_)) return Fail(ErrorCode::kMalformed, "it nests too deep");
    const Result<T> kept = decode(document, answer_);
    if (!kept) return tl::unexpected<Error>(kept.error());
    return alterations(*kept);
  }

  /// Of what is not whole nobody can say what was kept.
  template <typename T, typename Alter>
  Alterations CompareWhole(Decoder<T> decode, const Alter& alterations) {
    return Compare(decode, [&](const T& kept) -> Alterations {
      if (!kept.unreadable.empty()) return Fail(ErrorCode::kMalformed, kept.unreadable);
      return alterations(kept);
    });
  }

  const Chain& chain_;
  std::string& answer_;
};

}  // namespace

Result<std::vector<FieldChange>> DecodeAlterations(const Chain& chain, const Change& change, std::string answer) {
  return std::visit(Kept(chain, answer), change.effect);
}

}  // namespace cnpa
