// SPDX-License-Identifier: Apache-2.0
#include "core/plan/compare.h"

#include <optional>
#include <utility>

namespace cnpa {
namespace {

class Comparison {
 public:
  std::vector<FieldChange> Run(const Value& from, const Value& to, const std::string& path) {
    Compare(from, to, path);
    return std::move(fields_);
  }

 private:
  void Compare(const Value& from, const Value& to, const std::string& path) {
    if (from == to) return;
    if (from.map() != nullptr && to.map() != nullptr) return CompareMembers(*from.map(), *to.map(), path);
    const bool lists = from.list() != nullptr && to.list() != nullptr && from.list()->size() == to.list()->size();
    if (!lists) return fields_.push_back({.path = path, .from = TextOf(from), .to = TextOf(to)});
    for (std::size_t i = 0; i < from.list()->size(); ++i) {
      Compare((*from.list())[i], (*to.list())[i], path + "[" + std::to_string(i) + "]");
    }
  }

  void CompareMembers(const Value::Map& from, const Value::Map& to, const std::string& path) {
    for (const auto& [key, value] : from) {
      const auto other = to.find(key);
      if (other != to.end()) {
        Compare(value, other->second, MemberPath(path, key));
      } else {
        fields_.push_back({.path = MemberPath(path, key), .from = TextOf(value)});
      }
    }
    for (const auto& [key, value] : to) {
      if (!from.contains(key)) fields_.push_back({.path = MemberPath(path, key), .to = TextOf(value)});
    }
  }

  std::vector<FieldChange> fields_;
};

/// Returns the writer of the member of `spec` that `path` is in.
std::optional<Writer> WriterOfMember(const FieldWriters& writers, const std::string& path) {
  const std::size_t member = path.find('.');
  if (member == std::string::npos) return std::nullopt;
  return WriterOf(writers, path.substr(0, path.find_first_of(".[", member + 1)));
}

}  // namespace

std::vector<FieldChange> CompareValues(const Value& from, const Value& to, const std::string& path) {
  return Comparison().Run(from, to, path);
}

std::vector<FieldChange> CompareObjects(const ObservedObject& observed, const DeclaredObject& desired) {
  std::vector<FieldChange> fields;
  for (const auto& [key, value] : desired.labels) {
    const auto found = observed.labels.find(key);
    const std::string path = MemberPath("metadata.labels", key);
    if (found == observed.labels.end()) {
      fields.push_back({.path = path, .to = value});
    } else if (found->second != value) {
      fields.push_back({.path = path, .from = found->second, .to = value});
    }
  }
  for (FieldChange& field : CompareValues(observed.spec, desired.spec, "spec")) {
    if (field.from) field.writer = WriterOfMember(observed.writers, field.path);
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace cnpa
