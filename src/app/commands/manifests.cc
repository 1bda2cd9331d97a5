// SPDX-License-Identifier: Apache-2.0
#include "app/commands/manifests.h"

#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/core.h>

#include "base/environment.h"
#include "core/objects/objects.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

/// Replaces `from` in each of the `places` in which it stands.
void Replace(std::string& text, [[maybe_unused]] int places, std::string_view from, std::string_view to) {
  std::size_t place = text.find(from);
  for (; place != std::string::npos; place = text.find(from, place + to.size())) {
    text.replace(place, from.size(), to);
    --places;
  }
  assert(places == 0);
}

/// Returns `text` as YAML reads it whatever is in it: JSON's strings are YAML's double-quoted ones.
std::string Quoted(std::string_view text) {
  JsonWriter writer;
  writer.String(text);
  return writer.text();
}

std::string Subject(const Options& options) {
  if (options.rbac_service_account.empty()) {
    return fmt::format("- {{kind: User, apiGroup: rbac.authorization.k8s.io, name: {}}}", Quoted(options.rbac_user));
  }
  const std::size_t colon = options.rbac_service_account.find(':');
  return fmt::format("- {{kind: ServiceAccount, namespace: {}, name: {}}}",
                     Quoted(options.rbac_service_account.substr(0, colon)),
                     Quoted(options.rbac_service_account.substr(colon + 1)));
}

struct Hidden {
  std::string_view folder;
  std::string_view setting;
};
constexpr std::array kHidden{Hidden{"/home/", "ProtectHome=yes"}, Hidden{"/root/", "ProtectHome=yes"},
                             Hidden{"/run/user/", "ProtectHome=yes"}, Hidden{"/tmp/", "PrivateTmp=yes"},
                             Hidden{"/var/tmp/", "PrivateTmp=yes"}};

/// Returns `path` as the first word of a command line of systemd.
std::string CommandWord(std::string_view path) {
  std::string word;
  for (const char c : path) {
    if (c == '"' || c == '\\') word += '\\';
    if (c == '%') word += '%';
    word += c;
  }
  const bool plain = path.find_first_of(" \t\"'\\;") == std::string_view::npos;
  return plain ? word : '"' + word + '"';
}

}  // namespace

std::string UnitManifest(std::string_view path) {
  std::string text(kUnit);
  const bool found = std::any_of(kProgramFolders.begin(), kProgramFolders.end(),
                                 [path](std::string_view folder) { return path == std::string(folder) + "/cnpa-op"; });
  if (!path.empty() && !found) Replace(text, 2, "=cnpa-op ", "=" + CommandWord(path) + " ");
  return text;
}

std::string WhyUnitCannotRun(std::string_view path) {
  for (const Hidden& hidden : kHidden) {
    if (!path.starts_with(hidden.folder)) continue;
    return fmt::format(
        "the unit can't run '{}', which {} hides from it: install cnpa-op first, to /usr/local/bin for one", path,
        hidden.setting);
  }
  return {};
}

std::string RbacManifest(const Options& options) {
  std::string text(kRbacYaml);
  if (!options.rbac_service_account.empty() || options.rbac_user != kFieldManager) {
    // In both bindings.
    Replace(text, 2, "- {kind: User, apiGroup: rbac.authorization.k8s.io, name: cnpa-op}", Subject(options));
  }
  if (options.manage_crd) {
    Replace(text, 1, "  resourceNames: [teamspaces.platform.labhub.io]\n  verbs: [get]\n",
            "  resourceNames: [teamspaces.platform.labhub.io]\n  verbs: [get, patch]\n"
            "# A name can't bound create.\n"
            "- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [create]}\n");
  }
  if (options.openshift) {
    Replace(text, 1, "resources: [namespaces], verbs: [list, watch, create, patch]",
            "resources: [namespaces], verbs: [list, watch, create, patch, delete]");
  }
  return text;
}

}  // namespace cnpa
