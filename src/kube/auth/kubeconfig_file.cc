// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/kubeconfig_file.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/writers.h"

namespace cnpa {
namespace {

constexpr const char* kNotText = "is not a text: put it in quotes";

tl::unexpected<Error> Invalid(std::string message) {
  return Fail(ErrorCode::kInvalid, std::move(message));
}

Status MergeList(const YamlValue& root, const char* list, const char* kind, const std::string& file,
                 std::vector<KubeconfigEntry>& merged) {
  const YamlValue& entries = root[list];
  if (!entries.present()) return {};
  if (!entries.is_sequence()) return Invalid("'" + file + "': '" + list + "' is not a list");
  const auto wrong = [&file, list](const std::string& what) {
    return Invalid("'" + file + "': " + list + ": " + what);
  };
  std::set<std::string> names;
  for (const YamlValue& item : entries.items) {
    if (item.present() && !item.is_map()) return wrong("an entry is not a map");
    const YamlValue& name = item["name"];
    if (name.present() && !IsText(name)) return wrong(std::string("a name ") + kNotText);
    if (!names.insert(name.scalar).second)
      return Invalid("'" + file + "': two " + list + " are called \"" + name.scalar + "\"");
    const YamlValue& value = item[kind];
    if (value.present() && !value.is_map()) return wrong("\"" + name.scalar + "\" is not a map");
    const bool known =
        std::any_of(merged.begin(), merged.end(), [&name](const auto& e) { return e.name == name.scalar; });
    if (!known) merged.push_back({name.scalar, value, file, std::string(kind) + " \"" + name.scalar + "\""});
  }
  return {};
}

Status MergeFile(const std::string& file, const std::string& text, Kubeconfig& merged) {
  const tl::expected<YamlValue, YamlFault> root = ParseYaml(text);
  if (!root) {
    const std::string line = root.error().line > 0 ? "line " + std::to_string(root.error().line) + ": " : "";
    return Invalid("'" + file + "' is not a kubeconfig: " + line + root.error().what);
  }
  merged.files += (merged.files.empty() ? "" : ":") + file;
  if (!root->present()) return {};  // An empty file defines nothing.
  if (!root->is_map()) return Invalid("'" + file + "' is not a kubeconfig: no map of clusters, users and contexts");
  if (const std::string& kind = (*root)["kind"].scalar; !kind.empty() && kind != "Config") {
    return Invalid("'" + file + "' is not a kubeconfig: its kind is '" + kind + "', not Config");
  }
  if (const YamlValue& version = (*root)["apiVersion"]; version.present() && version.scalar != "v1") {
    return Invalid("'" + file + "' is not a kubeconfig: its apiVersion is not v1");
  }
  const YamlValue& current = (*root)["current-context"];
  if (current.present() && !current.scalar.empty() && !IsText(current)) {
    return Invalid("'" + file + "': current-context " + kNotText);
  }
  if (Status s = MergeList(*root, "clusters", "cluster", file, merged.clusters); !s) return s;
  if (Status s = MergeList(*root, "users", "user", file, merged.users); !s) return s;
  if (Status s = MergeList(*root, "contexts", "context", file, merged.contexts); !s) return s;
  if (merged.current_context.empty()) merged.current_context = current.scalar;
  return {};
}

/// Who can write a kubeconfig can have programs run in our name, and send us to a server of theirs.
Status CheckWriters(const std::string& file, const FileFacts& facts, bool is_root, Kubeconfig& merged) {
  if (is_root) {
    const std::string others = DescribeOtherWriters(file);
    if (!others.empty()) return Invalid("kubeconfig: " + others);
  } else if (facts.is_regular && facts.writable_by_others) {
    merged.warnings.push_back("kubeconfig: '" + file + "' can be written by others than its owner: chmod go-w '" +
                              file + "'");
  }
  return {};
}

}  // namespace

Result<Kubeconfig> ReadKubeconfig(const std::vector<std::string>& files, bool missing_is_fine, bool is_root) {
  Kubeconfig merged;
  for (const std::string& file : files) {
    FileFacts facts;
    const Result<std::string> text = ReadFile(file, kLargestFileBytes, &facts);
    if (!text && text.error().code == ErrorCode::kNotFound && missing_is_fine) continue;
    if (!text) return Annotate({ErrorCode::kInvalid, text.error().message}, "kubeconfig");
    if (Status s = CheckWriters(file, facts, is_root, merged); !s) return tl::unexpected<Error>(std::move(s).error());
    if (Status s = MergeFile(file, *text, merged); !s) return tl::unexpected<Error>(std::move(s).error());
  }
  if (merged.files.empty()) return Fail(ErrorCode::kNotFound, "no kubeconfig is there");
  return merged;
}

std::vector<std::string> SplitFileList(const std::string& list) {
  std::vector<std::string> files;
  std::size_t start = 0;
  while (start <= list.size()) {
    const std::size_t end = std::min(list.find(':', start), list.size());
    const std::string file = list.substr(start, end - start);
    if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    start = end + 1;
  }
  return files;
}

}  // namespace cnpa
