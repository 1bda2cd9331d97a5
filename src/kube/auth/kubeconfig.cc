// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/kubeconfig.h"

#include <algorithm>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "kube/auth/certificate.h"
#include "kube/auth/credentials.h"
#include "kube/auth/kubeconfig_entries.h"
#include "kube/auth/kubeconfig_fields.h"
#include "kube/auth/kubeconfig_file.h"
#include "kube/auth/proxy.h"

namespace cnpa {
namespace {

constexpr std::size_t kLongestMessage = 1024;

tl::unexpected<Error> Invalid(std::string message) {
  return Fail(ErrorCode::kInvalid, std::move(message));
}

const KubeconfigEntry* FindEntry(const std::vector<KubeconfigEntry>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&name](const auto& entry) { return entry.name == name; });
  return found == list.end() ? nullptr : &*found;
}

std::string Known(const std::vector<KubeconfigEntry>& list) {
  std::string names;
  for (const KubeconfigEntry& entry : list) names += (names.empty() ? "" : ", ") + entry.name;
  return names.empty() ? "none" : names;
}

Result<Connection> Resolve(const Kubeconfig& config, const std::string& wanted, const Environment& environment) {
  if (config.clusters.empty() && config.users.empty() && config.contexts.empty()) {
    return Invalid("'" + config.files + "' is not a kubeconfig: it has no clusters, users, contexts, current-context");
  }
  const std::string name = wanted.empty() ? config.current_context : wanted;
  if (name.empty()) {
    return Invalid("'" + config.files + "': no current-context: give --context, one of: " + Known(config.contexts));
  }
  const KubeconfigEntry* context = FindEntry(config.contexts, name);
  if (context == nullptr) {
    return Invalid("'" + config.files + "': no context \"" + name + "\": there is: " + Known(config.contexts));
  }
  FieldReader reader(*context);
  const std::string cluster_name = reader.Text("cluster");
  const std::string user_name = reader.Text("user");
  if (!reader.status()) return tl::unexpected<Error>(reader.status().error());
  const KubeconfigEntry* cluster = FindEntry(config.clusters, cluster_name);
  if (cluster == nullptr) {
    return Invalid(reader.Words("cluster") + ": no cluster \"" + cluster_name +
                   "\": there is: " + Known(config.clusters));
  }
  Connection connection{
      .user = user_name, .origin = "context \"" + name + "\", " + config.files, .warnings = config.warnings};
  if (Status s = ReadCluster(*cluster, environment, connection); !s) return tl::unexpected<Error>(std::move(s).error());
  // A context may name no user: then nobody in particular asks.
  const KubeconfigEntry* user = FindEntry(config.users, user_name);
  if (user == nullptr && !user_name.empty()) {
    return Invalid(reader.Words("user") + ": no user \"" + user_name + "\": there is: " + Known(config.users));
  }
  if (user != nullptr) {
    if (Status s = ReadUser(*user, *cluster, connection); !s) return tl::unexpected<Error>(std::move(s).error());
  }
  return connection;
}

bool Exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

/// The places to look at, in their order, each with the words for the message that none was there.
class Search {
 public:
  explicit Search(const KubeconfigQuery& query) : query_(query) {}

  Result<Connection> Run() {
    if (!query_.file.empty()) return Load({query_.file}, false);
    if (const auto list = query_.environment("KUBECONFIG")) {
      // Nothing else: who names a cluster does not mean another one.
      if (auto found = Try(SplitFileList(*list), "")) return *std::move(found);
      return Invalid("kubeconfig: $KUBECONFIG (" + *list + "): no such file");
    } else {
      tried_.emplace_back("$KUBECONFIG");
    }
    if (const auto folder = query_.environment("CREDENTIALS_DIRECTORY")) {
      if (auto found = Try({*folder + "/kubeconfig"}, *folder + "/kubeconfig")) return *std::move(found);
    }
    if (const auto home = query_.environment("HOME")) {
      if (auto found = Try({*home + "/.kube/config"}, *home + "/.kube/config")) return *std::move(found);
    }
    const auto host = query_.environment("KUBERNETES_SERVICE_HOST");
    const auto port = query_.environment("KUBERNETES_SERVICE_PORT");
    if (host && port && Exists(query_.service_account_folder + "/token")) {
      // Who names a cluster does not mean another one.
      if (!query_.context.empty()) {
        return Invalid("no context \"" + query_.context +
                       "\": a pod's service account has none, and there is no kubeconfig"
                       ": give --kubeconfig; looked at " +
                       Tried());
      }
      return LoadServiceAccount(*host, *port);
    }
    tried_.emplace_back("a pod's service account");
    if (auto found = Try({query_.k3s_file}, query_.k3s_file)) return *std::move(found);
    return Invalid("no kubeconfig found: give --kubeconfig; looked at " + Tried());
  }

 private:
  Result<Connection> Load(const std::vector<std::string>& files, bool missing_is_fine) const {
    Result<Kubeconfig> config = ReadKubeconfig(files, missing_is_fine, query_.is_root);
    if (!config) return tl::unexpected<Error>(config.error());
    bool loaded = false;
    for (auto* list : {&config->clusters, &config->users, &config->contexts}) {
      for (KubeconfigEntry& entry : *list) loaded |= entry.alone = IsLoadedBySystemd(entry.file);
    }
    Result<Connection> connection = Resolve(*config, query_.context, query_.environment);
    if (connection) connection->loaded_by_systemd = loaded;
    return connection;
  }

  bool IsLoadedBySystemd(const std::string& file) const {
    const auto folder = query_.environment("CREDENTIALS_DIRECTORY");
    return folder && file.starts_with(*folder + "/");
  }

  /// Returns nothing when none of `files` is there.
  std::optional<Result<Connection>> Try(const std::vector<std::string>& files, const std::string& words) {
    Result<Connection> connection = Load(files, true);
    if (connection || connection.error().code != ErrorCode::kNotFound) return connection;
    tried_.push_back(words);
    return std::nullopt;
  }

  Result<Connection> LoadServiceAccount(const std::string& host, const std::string& port) const {
    const std::string& folder = query_.service_account_folder;
    const bool ipv6 = host.find(':') != std::string::npos;
    Connection connection{.server = "https://" + (ipv6 ? "[" + host + "]" : host) + ":" + port,
                          .token_file = folder + "/token",
                          .origin = "service account, " + folder};
    const Result<std::string> token = ReadFile(connection.token_file, kLargestSecretBytes);
    if (!token) return Annotate({ErrorCode::kInvalid, token.error().message}, "service account");
    connection.token = TrimToken(*token);
    if (connection.token.empty()) return Invalid("service account: '" + connection.token_file + "' is empty");
    const std::string authorities_file = folder + "/ca.crt";
    Result<std::string> ca = ReadFile(authorities_file, kLargestSecretBytes);
    if (!ca) return Annotate({ErrorCode::kInvalid, ca.error().message}, "service account");
    Result<Authorities> authorities = Authorities::Read(*std::move(ca));
    if (!authorities) return Annotate(std::move(authorities).error(), "service account: '" + authorities_file + "'");
    connection.authorities = *std::move(authorities);
    Result<std::string> proxy = ProxyFromEnvironment(connection.server, query_.environment);
    if (!proxy) return Annotate(std::move(proxy).error(), "$HTTPS_PROXY");
    connection.proxy = *std::move(proxy);
    return connection;
  }

  std::string Tried() const {
    std::string places;
    for (const std::string& place : tried_) places += (places.empty() ? "" : ", ") + place;
    return places;
  }

  const KubeconfigQuery& query_;
  std::vector<std::string> tried_;
};

}  // namespace

Result<Connection> LoadConnection(const KubeconfigQuery& query) {
  Result<Connection> connection = Search(query).Run();
  // Contexts and files may be called anything; from here on their names are words in messages.
  if (!connection) return Fail(connection.error().code, OneLine(connection.error().message, kLongestMessage));
  connection->origin = OneLine(connection->origin, kLongestMessage);
  return connection;
}

}  // namespace cnpa
