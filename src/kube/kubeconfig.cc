// SPDX-License-Identifier: Apache-2.0
#include "kube/kubeconfig.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/file.h"
#include "base/percent.h"
#include "kube/certificate.h"
#include "kube/credentials.h"
#include "kube/json_writer.h"
#include "kube/kubeconfig_file.h"
#include "kube/proxy.h"

namespace cnpa {
namespace {

constexpr std::size_t kLargestSecretBytes = std::size_t{1} << 20U;

tl::unexpected<Error> Invalid(std::string message) {
  return Fail(ErrorCode::kInvalid, std::move(message));
}

const KubeconfigEntry* FindEntry(const std::vector<KubeconfigEntry>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&name](const auto& entry) { return entry.name == name; });
  return found == list.end() ? nullptr : &*found;
}

/// Returns whether a text is no path but what a file would hold: PEM, or base64 of it.
bool LooksLikeContent(const std::string& path) {
  constexpr std::size_t kLongestName = 255;
  return path.find('\n') != std::string::npos || path.starts_with("-----BEGIN") || path.starts_with("LS0tLS1CRUdJTi") ||
         (path.size() > kLongestName && path.find('/') == std::string::npos);
}

bool NamesUser(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return false;
  return url.substr(scheme + 3, url.find('/', scheme + 3) - scheme - 3).find('@') != std::string::npos;
}

/// Reads the fields of an entry, or of a part of it. Sticky: read all of them, look at status() once; the first thing
/// that was wrong is kept. Relative paths are relative to the entry's file.
class FieldReader {
 public:
  explicit FieldReader(const KubeconfigEntry& entry)
      : value_(entry.value),
        file_(entry.file),
        alone_(entry.alone),
        words_("'" + entry.file + "': " + entry.words),
        status_(own_status_) {}

  FieldReader(const FieldReader&) = delete;
  FieldReader& operator=(const FieldReader&) = delete;
  FieldReader(FieldReader&&) = delete;
  FieldReader& operator=(FieldReader&&) = delete;
  ~FieldReader() = default;

  const Status& status() const { return status_; }

  /// Returns a reader of the map `field`.
  FieldReader Part(const char* field) { return {*this, value_[field], Words(field)}; }

  bool Has(const char* field) const {
    const YamlValue& value = value_[field];
    return value.present() && !(value.is_scalar() && value.scalar.empty()) &&
           !(value.is_sequence() && value.items.empty()) && !(value.is_map() && value.members.empty());
  }

  /// It may be empty.
  bool IsThere(const char* field) const { return value_[field].present(); }

  std::string Text(const std::string& field) {
    const YamlValue& value = value_[field];
    if (value.present() && !value.scalar.empty() && !IsText(value)) Fail(field, "not a text: put it in quotes");
    if (value.present() && !value.is_scalar()) Fail(field, "not a text");
    return value.scalar;
  }

  bool Flag(const char* field) {
    const YamlValue& value = value_[field];
    const YamlBool flag = ToBool(value);
    if (value.present() && flag == YamlBool::kNone) Fail(field, "neither true nor false");
    return flag == YamlBool::kTrue;
  }

  std::vector<std::string> Texts(const char* field) {
    std::vector<std::string> texts;
    for (const YamlValue& item : Items(field)) {
      if (!IsText(item)) Fail(field, "not a list of texts: put them in quotes");
      texts.push_back(item.scalar);
    }
    return texts;
  }

  /// Returns a list of `name` and `value`.
  std::vector<std::pair<std::string, std::string>> NamedValues(const char* field) {
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

  /// Returns a map of lists, one pair for each element.
  std::vector<std::pair<std::string, std::string>> TextLists(const char* field) {
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

  /// Returns the bytes of `<field>-data` (base64) or of the file that `<field>` names.
  std::string Bytes(const std::string& field) {
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

  std::string File(const std::string& path, const std::string& field) {
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

  /// Returns where `path` leads from the entry's file; "" when it leads nowhere.
  std::string PathOf(const std::string& path, const std::string& field) {
    if (!alone_ || path.starts_with('/')) return ResolvePath(FolderOf(file_), path);
    Fail(field,
         "'" + path +
             "' is relative to where the kubeconfig came from, and systemd loads that file alone: write its whole "
             "path, or load what 'kubectl config view --raw --flatten' makes of it");
    return {};
  }

  /// Returns what is under `extension:` in the entry `name` of the list `extensions`.
  const YamlValue& Extension(std::string_view name) const {
    for (const YamlValue& item : value_["extensions"].items) {
      if (item["name"].scalar == name) return item["extension"];
    }
    return value_["no such field"];
  }

  void Fail(const std::string& field, const std::string& what) {
    if (status_) status_ = Invalid(Words(field) + ": " + what);
  }

  /// Two extensions of one name: nobody can tell which counts.
  void CheckExtensions() {
    std::set<std::string> names;
    for (const YamlValue& item : value_["extensions"].items) {
      const std::string& name = item["name"].scalar;
      if (!names.insert(name).second) Fail("extensions", "two are called '" + name + "'");
    }
  }

  /// The entry as a whole is wrong.
  void Fail(const std::string& what) {
    if (status_) status_ = Invalid(words_ + ": " + what);
  }

  /// `'/etc/x.yaml': user "admin": client-key`
  std::string Words(const std::string& field) const { return words_ + ": " + field; }

 private:
  FieldReader(FieldReader& whole, const YamlValue& value, std::string words)
      : value_(value), file_(whole.file_), alone_(whole.alone_), words_(std::move(words)), status_(whole.status_) {}

  const std::vector<YamlValue>& Items(const char* field) {
    const YamlValue& list = value_[field];
    if (list.present() && !list.is_sequence()) Fail(field, "not a list");
    return list.items;
  }

  const YamlValue& value_;
  const std::string& file_;
  bool alone_;
  std::string words_;
  Status own_status_;
  Status& status_;
};

bool FitsOneHeader(const std::string& text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos;
}

/// The address without '/' at its end; without a scheme it is https, which is all that credentials are sent over.
std::string Address(std::string server) {
  server = server.substr(0, server.find_first_of("?#"));
  while (server.ends_with('/')) server.pop_back();
  if (server == "https:" || server == "http:") return {};
  if (!server.empty() && server.find("://") == std::string::npos) server.insert(0, "https://");
  return server;
}

Status ReadCluster(const KubeconfigEntry& entry, const Environment& environment, Connection& connection) {
  FieldReader reader(entry);
  connection.server = Address(reader.Text("server"));
  connection.tls_server_name = reader.Text("tls-server-name");
  connection.insecure_skip_tls_verify = reader.Flag("insecure-skip-tls-verify");
  std::string authorities = reader.Bytes("certificate-authority");
  const std::string proxy_url = reader.Text("proxy-url");
  reader.Flag("disable-compression");
  reader.CheckExtensions();
  if (connection.server.empty()) reader.Fail("server", "missing");
  if (!PercentDecode(connection.server)) reader.Fail("server", "a '%' that is not followed by two hexadecimal digits");
  if (NamesUser(connection.server)) {
    // Not quoted: it may have a password.
    reader.Fail("server", "names a user: username and password belong to the user's entry");
  }
  if (!authorities.empty() && connection.insecure_skip_tls_verify) {
    reader.Fail("insecure-skip-tls-verify", "and a certificate-authority too: keep one");
  }
  if (!authorities.empty()) {
    Result<Authorities> read = Authorities::Read(std::move(authorities));
    if (!read) reader.Fail("certificate-authority", read.error().message);
    if (read) connection.authorities = *std::move(read);
  }
  if (!reader.status()) return reader.status();
  Result<std::string> proxy =
      proxy_url.empty() ? ProxyFromEnvironment(connection.server, environment) : ParseProxyUrl(proxy_url);
  if (!proxy) return Annotate(std::move(proxy).error(), proxy_url.empty() ? "$HTTPS_PROXY" : reader.Words("proxy-url"));
  connection.proxy = *std::move(proxy);
  return {};
}

/// Returns spec.cluster of what a plugin is told: the connection as the kubeconfig has it, and its own configuration.
std::string DescribeCluster(const KubeconfigEntry& cluster, const Connection& connection) {
  FieldReader reader(cluster);
  JsonWriter json;
  json.Object([&] {
    json.String("server", reader.Text("server"));
    if (!connection.tls_server_name.empty()) json.String("tls-server-name", connection.tls_server_name);
    if (connection.insecure_skip_tls_verify) json.Bool("insecure-skip-tls-verify", true);
    if (!connection.authorities.empty()) {
      json.String("certificate-authority-data", EncodeBase64(connection.authorities.pem()));
    }
    if (reader.Has("proxy-url")) json.String("proxy-url", reader.Text("proxy-url"));
    if (reader.Flag("disable-compression")) json.Bool("disable-compression", true);
    const YamlValue& config = reader.Extension("client.authentication.k8s.io/exec");
    json.Key("config");
    if (config.present()) {
      json.Raw(YamlToJson(config));
    } else {
      json.Null();
    }
  });
  return json.text();
}

void ReadInteraction(FieldReader& reader, ExecPlugin& plugin) {
  using Interaction = ExecPlugin::Interaction;
  const std::string mode = reader.Text("interactiveMode");
  if (mode == "Never") plugin.interaction = Interaction::kNever;
  if (mode == "IfAvailable") plugin.interaction = Interaction::kIfAvailable;
  if (mode == "Always") plugin.interaction = Interaction::kAlways;
  if (mode == "Never" || mode == "IfAvailable" || mode == "Always") return;
  if (!mode.empty()) return reader.Fail("interactiveMode", "'" + mode + "' is none of Never, IfAvailable, Always");
  if (plugin.api_version.ends_with("/v1"))
    return reader.Fail("interactiveMode", "missing: Never, for a plugin that asks nobody");
  plugin.interaction = Interaction::kIfAvailable;
}

void ReadExec(FieldReader& reader, const KubeconfigEntry& cluster, Connection& connection) {
  ExecPlugin& plugin = connection.exec;
  plugin.command = reader.Text("command");
  if (plugin.command.find('/') != std::string::npos) plugin.command = reader.PathOf(plugin.command, "command");
  plugin.arguments = reader.Texts("args");
  plugin.environment = reader.NamedValues("env");
  plugin.api_version = reader.Text("apiVersion");
  plugin.install_hint = TrimToken(reader.Text("installHint"));
  if (plugin.command.empty()) reader.Fail("command", "missing");
  if (plugin.api_version.empty()) reader.Fail("apiVersion", "missing");
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    reader.Fail("apiVersion", "'" + plugin.api_version + "' is neither client.authentication.k8s.io/v1 nor v1beta1");
  }
  ReadInteraction(reader, plugin);
  if (reader.Flag("provideClusterInfo")) plugin.cluster_json = DescribeCluster(cluster, connection);
}

void ReadToken(FieldReader& reader, Connection& connection) {
  connection.token = reader.Text("token");
  // As client-go: a token file that can be read wins over the token beside it.
  if (const std::string path = reader.Text("tokenFile"); !path.empty()) {
    connection.token_file = reader.PathOf(path, "tokenFile");
    const Result<std::string> text = ReadFile(connection.token_file, kLargestSecretBytes);
    const std::string token = text ? TrimToken(*text) : std::string();
    if (!token.empty()) {
      connection.token = token;
    } else if (connection.token.empty()) {
      text ? reader.Fail("tokenFile", "'" + path + "' is empty") : reader.Fail("tokenFile", text.error().message);
    }
  }
  if (!FitsOneHeader(connection.token)) reader.Fail("token", "has a line break in it");
}

void ReadBasic(FieldReader& reader, Connection& connection) {
  connection.username = reader.Text("username");
  connection.password = reader.Text("password");
  if (connection.username.find(':') != std::string::npos) reader.Fail("username", "has a ':' in it");
  if ((reader.Has("username") || reader.Has("password")) && !connection.token.empty()) {
    reader.Fail("username", "and a token too: keep one of the two");
  }
}

void ReadImpersonation(FieldReader& reader, Impersonation& impersonate) {
  impersonate.user = reader.Text("as");
  impersonate.uid = reader.Text("as-uid");
  impersonate.groups = reader.Texts("as-groups");
  impersonate.extra = reader.TextLists("as-user-extra");
  if (impersonate.user.empty() &&
      (!impersonate.uid.empty() || !impersonate.groups.empty() || !impersonate.extra.empty())) {
    reader.Fail("as", "missing, though as-uid, as-groups or as-user-extra is there");
  }
  const auto check = [&reader](const char* field, const std::string& text) {
    if (!FitsOneHeader(text)) reader.Fail(field, "has a line break in it");
  };
  check("as", impersonate.user);
  check("as-uid", impersonate.uid);
  for (const std::string& group : impersonate.groups) check("as-groups", group);
  for (const auto& [key, value] : impersonate.extra) check("as-user-extra", value);
}

void ReadCertificate(FieldReader& reader, Connection& connection) {
  std::string certificate = reader.Bytes("client-certificate");
  std::string key = reader.Bytes("client-key");
  if (!reader.status()) return;
  if (certificate.empty() != key.empty()) {
    return reader.Fail(key.empty() ? "client-key" : "client-certificate", "missing, though its other half is there");
  }
  if (certificate.empty()) return;
  Result<ClientCertificate> client = ClientCertificate::Read(std::move(certificate), std::move(key));
  if (!client) return reader.Fail(client.error().message);
  connection.client_certificate = *std::move(client);
}

Status ReadUser(const KubeconfigEntry& entry, const KubeconfigEntry& cluster, Connection& connection) {
  FieldReader reader(entry);
  if (reader.Has("auth-provider")) {
    reader.Fail("auth-provider", "Kubernetes has none any more: use an exec plugin, a client certificate or a token");
  }
  ReadCertificate(reader, connection);
  ReadToken(reader, connection);
  ReadBasic(reader, connection);
  ReadImpersonation(reader, connection.impersonate);
  if (reader.IsThere("exec")) {
    FieldReader exec = reader.Part("exec");
    ReadExec(exec, cluster, connection);
  }
  return reader.status();
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
  Connection connection{.origin = "context \"" + name + "\", " + config.files, .warnings = config.warnings};
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
    if (host && port && Exists(query_.service_account_folder + "/token")) return LoadServiceAccount(*host, *port);
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
    Result<std::string> token = ReadFile(connection.token_file, kLargestSecretBytes);
    if (!token) return Annotate({ErrorCode::kInvalid, token.error().message}, "service account");
    const std::string authorities_file = folder + "/ca.crt";
    Result<std::string> ca = ReadFile(authorities_file, kLargestSecretBytes);
    if (!ca) return Annotate({ErrorCode::kInvalid, ca.error().message}, "service account");
    Result<Authorities> authorities = Authorities::Read(*std::move(ca));
    if (!authorities) return Annotate(std::move(authorities).error(), "service account: '" + authorities_file + "'");
    connection.token = TrimToken(*token);
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
  return Search(query).Run();
}

}  // namespace cnpa
