// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/kubeconfig_fields.h"

#include <set>

#include "base/base64.h"
#include "base/file.h"

namespace cnpa {
namespace {

/// Returns whether a text is no path but what a file would hold: PEM, or base64 of it.
bool LooksLikeContent(const std::string& path) {
  constexpr std::size_t kLongestName = 255;
  return path.find('\n') != std::string::npos || path.starts_with("-----BEGIN") || path.starts_with("LS0tLS1CRUdJTi") ||
         (path.size() > kLongestName && path.find('/') == std::string::npos);
}

}  // namespace

FieldReader::FieldReader(const KubeconfigEntry& entry)
    : value_(entry.value),
      file_(entry.file),
      alone_(entry.alone),
      words_("'" + entry.file + "': " + entry.words),
      status_(own_status_) {}

FieldReader::FieldReader(FieldReader& whole, const YamlValue& value, std::string words)
    : value_(value), file_(whole.file_), alone_(whole.alone_), words_(std::move(words)), status_(whole.status_) {}

bool FieldReader::Has(const char* field) const {
  const YamlValue& value = value_[field];
  return value.present() && !(value.is_scalar() && value.scalar.empty()) &&
         !(value.is_sequence() && value.items.empty()) && !(value.is_map() && value.members.empty());
}

std::string FieldReader::Text(const std::string& field) {
  const YamlValue& value = value_[field];
  if (value.present() && !value.scalar.empty() && !IsText(value)) Fail(field, "not a text: put it in quotes");
  if (value.present() && !value.is_scalar()) Fail(field, "not a text");
  return value.scalar;
}

bool FieldReader::Flag(const char* field) {
  const YamlValue& value = value_[field];
  const YamlBool flag = ToBool(value);
  if (value.present() && flag == YamlBool::kNone) Fail(field, "neither true nor false");
  return flag == YamlBool::kTrue;
}

std::vector<std::string> FieldReader::Texts(const char* field) {
  std::vector<std::string> texts;
  for (const YamlValue& item : Items(field)) {
    if (!IsText(item)) Fail(field, "not a list of texts: put them in quotes");
    texts.push_back(item.scalar);
  }
  return texts;
}

std::vector<std::pair<std::string, std::string>> FieldReader::NamedValues(const char* field) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const YamlValue& item : Items(field)) {
    const YamlValue& name = item["name"];
    const YamlValue& value = item["value"];
    if (!IsText(name) || name.scalar.empty()) Fail(field, "an entry without name");
    if (value.present() && !IsText(value)) Fail(field, "an entry whose value is not a text: put it in quotes");
    pairs.emplace_back(name.scalar, value.scalar);
  }
  return pairs;
}

std::vector<std::pair<std::string, std::string>> FieldReader::TextLists(const char* field) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const YamlValue& map = value_[field];
  if (map.present() && !map.is_map()) Fail(field, "not a map");
  for (const YamlMember& member : map.members) {
    if (member.value.present() && !member.value.is_sequence()) Fail(field, "not a map of lists");
    for (const YamlValue& item : member.value.items) {
      if (!IsText(item)) Fail(field, "not a map of lists of texts: put them in quotes");
      pairs.emplace_back(member.key, item.scalar);
    }
  }
  return pairs;
}

std::string FieldReader::Bytes(const std::string& field) {
  const std::string data = Text(field + "-data");
  const std::string path = Text(field);
  if (!data.empty() && !path.empty()) {
    Fail(field, "both " + field + " and " + field + "-data are there: keep one");
    return {};
  }
  if (data.empty()) return path.empty() ? std::string() : File(path, field);
  Result<std::string> bytes = DecodeBase64(data);
  if (bytes) return *std::move(bytes);
  Fail(field + "-data", bytes.error().message);
  return {};
}

std::string FieldReader::File(const std::string& path, const std::string& field) {
  if (LooksLikeContent(path)) {
    // Not quoted: it may be a key.
    Fail(field,
         "not the name of a file: what stands in the kubeconfig itself belongs to " + field + "-data, in base64");
    return {};
  }
  const std::string whole_path = PathOf(path, field);
  if (whole_path.empty()) return {};
  Result<std::string> bytes = ReadFile(whole_path, kLargestSecretBytes);
  if (bytes) return *std::move(bytes);
  Fail(field, bytes.error().message);
  return {};
}

std::string FieldReader::PathOf(const std::string& path, const std::string& field) {
  if (!alone_ || path.starts_with('/')) return ResolvePath(FolderOf(file_), path);
  Fail(field, "'" + path +
                  "' is relative to where the kubeconfig came from, and systemd loads that file alone: write its whole "
                  "path, or load what 'kubectl config view --raw --flatten' makes of it");
  return {};
}

const YamlValue& FieldReader::Extension(std::string_view name) const {
  for (const YamlValue& item : value_["extensions"].items) {
    if (item["name"].scalar == name) return item["extension"];
  }
  return value_["no such field"];
}

void FieldReader::CheckExtensions() {
  std::set<std::string> names;
  for (const YamlValue& item : value_["extensions"].items) {
    const std::string& name = item["name"].scalar;
    if (!names.insert(name).second) Fail("extensions", "two are called '" + name + "'");
  }
}

void FieldReader::Fail(const std::string& field, const std::string& what) {
  if (status_) status_ = cnpa::Fail(ErrorCode::kInvalid, Words(field) + ": " + what);
}

void FieldReader::Fail(const std::string& what) {
  if (status_) status_ = cnpa::Fail(ErrorCode::kInvalid, words_ + ": " + what);
}

const std::vector<YamlValue>& FieldReader::Items(const char* field) {
  const YamlValue& list = value_[field];
  if (list.present() && !list.is_sequence()) Fail(field, "not a list");
  return list.items;
}

}  // namespace cnpa
