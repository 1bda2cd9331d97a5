// SPDX-License-Identifier: Apache-2.0
#include "core/plan/describe.h"

#include <algorithm>
#include <utility>

#include "core/plan/compare.h"

namespace cnpa {
namespace {

struct ActionWords {
  Action action;
  std::string_view verb;
  char symbol;
};

constexpr std::array kActions{
    ActionWords{Action::kCreate, "create", '+'},      ActionWords{Action::kUpdate, "update", '~'},
    ActionWords{Action::kWriteStatus, "update", '~'}, ActionWords{Action::kDelete, "delete", '-'},
    ActionWords{Action::kRelease, "update", '-'},     ActionWords{Action::kArchive, "archive", '+'},
};

consteval bool AreInOrder() {
  for (std::size_t i = 0; i < kActions.size(); ++i) {
    if (static_cast<std::size_t>(kActions[i].action) != i) return false;
  }
  return true;
}
static_assert(AreInOrder(), "kActions has a row for each Action, in its order");

const ActionWords& WordsOf(Action action) {
  return kActions[static_cast<std::size_t>(action)];
}

ObjectRef TeamSpaceOf(const Chain& chain) {
  return {std::string(kTeamSpaceKind), "", chain.name};
}

ObjectRef NamespaceRef(const std::string& name) {
  return {"Namespace", "", name};
}

ObjectRef QuotaIn(const std::string& namespace_name) {
  return {"ResourceQuota", namespace_name, std::string(kQuotaName)};
}

ObjectRef RefTo(const Resource& resource, const std::string& name) {
  return {std::string(resource.kind), "", name};
}

/// What is said of one operation. `Fill` of each alternative of Effect says its all.
class Describer {
 public:
  Describer(const Chain& chain, const Change& change) : chain_(chain), change_(change) {}

  Description Run() {
    description_.action = ActionOf(change_);
    description_.object = ObjectOf(chain_, change_);
    description_.fields = change_.fields;
    std::visit([this](const auto& operation) { Fill(operation); }, change_.effect);
    return std::move(description_);
  }

 private:
  void Fill(const AddFinalizer& /*operation*/) {
    const std::string ours(kFinalizer);
    description_.note = "finalizer " + ours + " added";
    description_.damage = Damage::kReleased;
    if (description_.fields.empty()) description_.fields = {{.path = std::string(kFinalizersPath), .to = ours}};
  }

  void Fill(const RemoveFinalizer& /*operation*/) {
    const std::string ours(kFinalizer);
    description_.note = "finalizer " + ours + " removed";
    description_.fields = {{.path = std::string(kFinalizersPath), .from = ours}};
  }

  void Fill(const CreateNamespace& /*operation*/) {
    description_.note = "TeamSpace " + chain_.name + " has none";
    description_.damage = Damage::kDeleted;
    description_.fields = {{.path = LabelPath(), .to = chain_.name}};
  }

  void Fill(const RepairNamespace& /*operation*/) { description_.damage = Damage::kChanged; }

  void Fill(const CreateQuota& quota) {
    RefuseAsQuota();
    description_.fields.clear();
    for (const auto& [key, value] : quota.hard) {
      description_.note.append(description_.note.empty() ? "" : ", ").append(key).append(" ").append(value);
      description_.fields.push_back({.path = std::string(kHardPath) + key, .to = value});
    }
    description_.damage = Damage::kDeleted;
  }

  void Fill(const RepairQuota& /*operation*/) {
    RefuseAsQuota();
    description_.damage = Damage::kChanged;
  }

  void Fill(const DeleteQuota& /*operation*/) {
    RefuseAsQuota();
    description_.note = "has scopes, which narrow it and can't be changed";
  }

  void Fill(const WriteStatus& /*operation*/) {}

  void Fill(const WriteArchive& /*operation*/) {
    description_.note = "archive of TeamSpace " + chain_.name;
    description_.if_rejected = Reason::kArchiveFailed;
    description_.advice = "the TeamSpace stays until its archive can be written";
  }

  void Fill(const CreateObject& created) {
    description_.fields.clear();
    for (const auto& [key, value] : created.object->labels) {
      description_.fields.push_back({.path = MemberPath("metadata.labels", key), .to = value});
    }
    for (FieldChange& field : CompareValues(Value{Value::Map{}}, created.object->spec, "spec")) {
      description_.fields.push_back(std::move(field));
    }
    description_.note = "is missing";
    description_.damage = Damage::kDeleted;
  }

  void Fill(const PatchObject& /*operation*/) { description_.damage = Damage::kChanged; }
  void Fill(const DeleteObject& /*operation*/) { description_.note = "is ours, and nothing asks for it"; }

  void RefuseAsQuota() {
    description_.if_rejected = Reason::kQuotaRefused;
    description_.advice = "the server refuses the quota; change the spec, or ask a cluster admin";
  }

  const Chain& chain_;
  const Change& change_;
  Description description_;
};

struct ToAction {
  Action operator()(const AddFinalizer& /*operation*/) const { return Action::kUpdate; }
  Action operator()(const RemoveFinalizer& /*operation*/) const { return Action::kRelease; }
  Action operator()(const CreateNamespace& /*operation*/) const { return Action::kCreate; }
  Action operator()(const RepairNamespace& /*operation*/) const { return Action::kUpdate; }
  Action operator()(const CreateQuota& /*operation*/) const { return Action::kCreate; }
  Action operator()(const RepairQuota& /*operation*/) const { return Action::kUpdate; }
  Action operator()(const DeleteQuota& /*operation*/) const { return Action::kDelete; }
  Action operator()(const WriteStatus& /*operation*/) const { return Action::kWriteStatus; }
  Action operator()(const WriteArchive& /*operation*/) const { return Action::kArchive; }
  Action operator()(const CreateObject& /*operation*/) const { return Action::kCreate; }
  Action operator()(const PatchObject& /*operation*/) const { return Action::kUpdate; }
  Action operator()(const DeleteObject& /*operation*/) const { return Action::kDelete; }
};

struct ToObject {
  ObjectRef operator()(const AddFinalizer& /*operation*/) const { return TeamSpaceOf(chain); }
  ObjectRef operator()(const RemoveFinalizer& /*operation*/) const { return TeamSpaceOf(chain); }
  ObjectRef operator()(const CreateNamespace& operation) const { return NamespaceRef(operation.name); }
  ObjectRef operator()(const RepairNamespace& operation) const { return NamespaceRef(operation.name); }
  ObjectRef operator()(const CreateQuota& operation) const { return QuotaIn(operation.namespace_name); }
  ObjectRef operator()(const RepairQuota& operation) const { return QuotaIn(operation.namespace_name); }
  ObjectRef operator()(const DeleteQuota& operation) const { return QuotaIn(operation.namespace_name); }
  ObjectRef operator()(const WriteStatus& /*operation*/) const { return TeamSpaceOf(chain); }
  ObjectRef operator()(const WriteArchive& /*operation*/) const { return TeamSpaceOf(chain); }
  ObjectRef operator()(const CreateObject& operation) const {
    return RefTo(operation.object->resource, operation.object->name);
  }
  ObjectRef operator()(const PatchObject& operation) const {
    return RefTo(operation.object->resource, operation.object->name);
  }
  ObjectRef operator()(const DeleteObject& operation) const { return RefTo(operation.resource, operation.name); }

  const Chain& chain;
};

}  // namespace

std::string_view VerbOf(Action action) {
  return WordsOf(action).verb;
}

char SymbolOf(Action action) {
  return WordsOf(action).symbol;
}

Description Describe(const Chain& chain, const Change& change) {
  return Describer(chain, change).Run();
}

Action ActionOf(const Change& change) {
  return std::visit(ToAction{}, change.effect);
}

ObjectRef ObjectOf(const Chain& chain, const Change& change) {
  return std::visit(ToObject{chain}, change.effect);
}

bool Has(const Chain& chain, Action action) {
  return std::any_of(chain.changes.begin(), chain.changes.end(),
                     [action](const Change& change) { return ActionOf(change) == action; });
}

const WriteArchive& ArchiveOf(const Change& change) {
  return std::get<WriteArchive>(change.effect);
}

std::optional<std::string> NamespaceCreated(const Chain& chain, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (ActionOf(chain.changes[i]) != Action::kCreate) continue;
    ObjectRef object = ObjectOf(chain, chain.changes[i]);
    if (object.kind == "Namespace") return std::move(object.name);
  }
  return std::nullopt;
}

}  // namespace cnpa
