// SPDX-License-Identifier: Apache-2.0
#include "core/teamspace/crd.h"

#include <algorithm>
#include <span>
#include <utility>

namespace cnpa {
namespace {

/// Finds the element of `list` that `element` is another form of: the one of its name, or its equal.
const Value* Counterpart(const Value::List& list, const Value& element) {
  const Value* name = element.Find("name");
  const auto found = std::find_if(list.begin(), list.end(), [&](const Value& other) {
    const Value* other_name = other.Find("name");
    return name != nullptr ? other_name != nullptr && *other_name == *name : other == element;
  });
  return found == list.end() ? nullptr : &*found;
}

class UnknownPaths {
 public:
  void Collect(const Value& observed, const Value& known, const std::string& path) {
    if (observed.map() != nullptr && known.map() != nullptr) return CollectMembers(observed, known, path);
    if (observed.list() != nullptr && known.list() != nullptr) CollectElements(observed, known, path);
  }

  std::vector<std::string> Take() { return std::move(paths_); }

 private:
  void CollectMembers(const Value& observed, const Value& known, const std::string& path) {
    for (const auto& [key, value] : *observed.map()) {
      const Value* ours = known.Find(key);
      if (ours != nullptr) {
        Collect(value, *ours, MemberPath(path, key));
      } else if (key != "description") {
        paths_.push_back(MemberPath(path, key));
      }
    }
  }

  void CollectElements(const Value& observed, const Value& known, const std::string& path) {
    for (const Value& element : *observed.list()) {
      const Value* name = element.Find("name");
      const Value* ours = Counterpart(*known.list(), element);
      const std::string place = path + "['" + TextOf(name != nullptr ? *name : element) + "']";
      if (ours != nullptr) {
        Collect(element, *ours, place);
      } else if (element.Find("rule") == nullptr) {  // A rule in other words is no field more.
        paths_.push_back(place);
      }
    }
  }

  std::vector<std::string> paths_;
};

}  // namespace

std::vector<std::string> FindUnknown(const Value& observed, const Value& known) {
  UnknownPaths unknown;
  unknown.Collect(observed, known, "spec");
  return unknown.Take();
}

CrdPlan ComputeCrd(const std::optional<ObservedObject>& observed, const DeclaredObject& known, const Mark& mark) {
  CrdPlan plan;
  if (observed) plan.unknown = FindUnknown(observed->spec, known.spec);
  if (!plan.unknown.empty()) return plan;
  const std::span<const ObservedObject> there =
      observed ? std::span<const ObservedObject>(&*observed, 1) : std::span<const ObservedObject>();
  plan.sets = ComputeDeclared(there, std::span<const DeclaredObject>(&known, 1), mark);
  return plan;
}

}  // namespace cnpa
