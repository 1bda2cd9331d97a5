// SPDX-License-Identifier: Apache-2.0
#include "kube/kubeconfig.h"

#include <algorithm>
#include <array>
#include <unistd.h>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "base/base64.h"
#include "base/file.h"
#include "kube/certificate.h"

namespace cnpa {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

tl::unexpected<Error> Invalid(std::string message) {
  return Fail(ErrorCode::kInvalid, std::move(message));
}

/// A named entry of one of the three lists, and the file that it stands in.
struct Entry {
  YAML::Node node;  ///< What is under `cluster:`, `user:` or `context:`; may be null.
  std::string file;
  std::string words;  ///< `user "admin"`.
};

/// All files of a $KUBECONFIG merged: the first to define a name, or the current context, wins.
struct Merged {
  std::vector<std::pair<std::string, Entry>> clusters;
  std::vector<std::pair<std::string, Entry>> users;
  std::vector<std::pair<std::string, Entry>> contexts;
  std::string current_context;
  std::string files;  ///< For messages.
};

std::string Scalar(const YAML::Node& node) {
  return node && node.IsScalar() ? node.Scalar() : std::string();
}

YAML::Node Child(const YAML::Node& node, const std::string& key) {
  // A const node does not grow the key that is asked for.
  return node && node.IsMap() ? node[key] : YAML::Node(YAML::NodeType::Undefined);
}

using List = std::vector<std::pair<std::string, Entry>>;

Status MergeList(const YAML::Node& root, const char* list, const char* kind, const std::string& file, List& merged) {
  const YAML::Node entries = Child(root, list);
  if (!entries || entries.IsNull()) return {};
  if (!entries.IsSequence()) return Invalid("'" + file + "': '" + list + "' is not a list");
  for (const YAML::Node& item : entries) {
    const std::string name = Scalar(Child(item, "name"));
    const bool known = std::any_of(merged.begin(), merged.end(), [&name](const auto& e) { return e.first == name; });
    if (known) continue;
    merged.emplace_back(name, Entry{Child(item, kind), file, std::string(kind) + " \"" + name + "\""});
  }
  return {};
}

Status MergeFile(const std::string& file, const std::string& text, Merged& merged) {
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception& exception) {
    const std::string line = exception.mark.is_null() ? "" : ", line " + std::to_string(exception.mark.line + 1);
    return Invalid("'" + file + "' is not a kubeconfig: not YAML" + line + ": " + exception.msg);
  }
  merged.files += (merged.files.empty() ? "" : ":") + file;
  if (root.IsNull()) return {};  // An empty file defines nothing.
  if (!root.IsMap()) return Invalid("'" + file + "' is not a kubeconfig: no map of clusters, users and contexts");
  if (const std::string kind = Scalar(Child(root, "kind")); !kind.empty() && kind != "Config") {
    return Invalid("'" + file + "' is not a kubeconfig: its kind is '" + kind + "', not Config");
  }
  if (Status s = MergeList(root, "clusters", "cluster", file, merged.clusters); !s) return s;
  if (Status s = MergeList(root, "users", "user", file, merged.users); !s) return s;
  if (Status s = MergeList(root, "contexts", "context", file, merged.contexts); !s) return s;
  if (merged.current_context.empty()) merged.current_context = Scalar(Child(root, "current-context"));
  return {};
}

const Entry* FindEntry(const List& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&name](const auto& entry) { return entry.first == name; });
  return found == list.end() ? nullptr : &found->second;
}

/// Reads the fields of one entry; relative paths are relative to its file.
class FieldReader {
 public:
  explicit FieldReader(const Entry& entry) : entry_(entry) {}

  std::string Text(const char* field) const { return Scalar(Child(entry_.node, field)); }
  bool Flag(const char* field) const { return Text(field) == "true"; }

  Status Refuse(const char* field, const char* instead) const {
    const YAML::Node node = Child(entry_.node, field);
    if (!node || node.IsNull() || (node.IsScalar() && node.Scalar().empty())) return {};
    return Invalid(Words(field) + ": not supported yet; use " + instead);
  }

  /// Returns the bytes of `<field>-data` (base64) or of the file that `<field>` names.
  Result<std::string> Bytes(const std::string& field) const {
    const std::string data = Text((field + "-data").c_str());
    const std::string path = Text(field.c_str());
    if (!data.empty() && !path.empty()) {
      return Invalid(Words(field) + ": both " + field + " and " + field + "-data are there: keep one");
    }
    if (!data.empty()) {
      Result<std::string> bytes = DecodeBase64(data);
      if (!bytes) return Annotate(std::move(bytes).error(), Words(field + "-data"));
      return bytes;
    }
    if (path.empty()) return std::string();
    return File(path, field);
  }

  Result<std::string> File(const std::string& path, const std::string& field) const {
    Result<std::string> bytes = ReadFile(ResolvePath(FolderOf(entry_.file), path), std::size_t{1} << 20U);
    if (!bytes) return Annotate({ErrorCode::kInvalid, bytes.error().message}, Words(field));
    return bytes;
  }

  /// `'/etc/x.yaml': user "admin": client-key`
  std::string Words(const std::string& field) const { return "'" + entry_.file + "': " + entry_.words + ": " + field; }

 private:
  const Entry& entry_;
};

Status ReadCluster(const Entry& entry, Connection& connection) {
  const FieldReader reader(entry);
  if (Status s = reader.Refuse("proxy-url", "a direct connection"); !s) return s;
  connection.server = reader.Text("server");
  if (connection.server.empty()) return Invalid(reader.Words("server") + ": missing");
  while (connection.server.ends_with('/')) connection.server.pop_back();
  connection.tls_server_name = reader.Text("tls-server-name");
  connection.insecure_skip_tls_verify = reader.Flag("insecure-skip-tls-verify");
  Result<std::string> ca = reader.Bytes("certificate-authority");
  if (!ca) return tl::unexpected<Error>(std::move(ca).error());
  connection.ca_pem = *std::move(ca);
  if (!connection.ca_pem.empty() && connection.insecure_skip_tls_verify) {
    return Invalid(reader.Words("insecure-skip-tls-verify") + ": and a certificate-authority too: keep one");
  }
  if (!connection.ca_pem.empty()) {
    if (Status s = CheckCertificate(connection.ca_pem); !s) {
      return Annotate(std::move(s).error(), reader.Words("certificate-authority"));
    }
  }
  return {};
}

std::string Trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

Status ReadToken(const FieldReader& reader, Connection& connection) {
  connection.token = reader.Text("token");
  // As client-go: a token file that can be read wins over the token beside it.
  if (const std::string path = reader.Text("tokenFile"); !path.empty()) {
    Result<std::string> token = reader.File(path, "tokenFile");
    if (!token) return tl::unexpected<Error>(std::move(token).error());
    connection.token = Trimmed(*token);
    if (connection.token.empty()) return Invalid(reader.Words("tokenFile") + ": '" + path + "' is empty");
  }
  if (connection.token.find_first_of("\r\n") != std::string::npos) {
    return Invalid(reader.Words("token") + ": has a line break in it");
  }
  return {};
}

Status ReadUser(const Entry& entry, Connection& connection) {
  constexpr const char* kInstead = "a client certificate or a token";
  constexpr std::array<const char*, 8> kUnsupported{"exec", "auth-provider", "username",  "password",
                                                    "as",   "as-uid",        "as-groups", "as-user-extra"};
  const FieldReader reader(entry);
  for (const char* field : kUnsupported) {
    if (Status s = reader.Refuse(field, kInstead); !s) return s;
  }
  Result<std::string> certificate = reader.Bytes("client-certificate");
  if (!certificate) return tl::unexpected<Error>(std::move(certificate).error());
  Result<std::string> key = reader.Bytes("client-key");
  if (!key) return tl::unexpected<Error>(std::move(key).error());
  connection.certificate_pem = *std::move(certificate);
  connection.key_pem = *std::move(key);
  if (connection.certificate_pem.empty() != connection.key_pem.empty()) {
    return Invalid(reader.Words(connection.key_pem.empty() ? "client-key" : "client-certificate") +
                   ": missing, though its other half is there");
  }
  if (!connection.certificate_pem.empty()) {
    if (Status s = CheckClientCertificate(connection.certificate_pem, connection.key_pem); !s) {
      return Annotate(std::move(s).error(), "'" + entry.file + "': " + entry.words);
    }
  }
  return ReadToken(reader, connection);
}

std::string Known(const List& list) {
  std::string names;
  for (const auto& [name, entry] : list) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

Result<Connection> Resolve(const Merged& merged, const std::string& wanted) {
  if (merged.clusters.empty() && merged.users.empty() && merged.contexts.empty()) {
    return Invalid("'" + merged.files + "' is not a kubeconfig: it has no clusters, users, contexts, current-context");
  }
  const std::string name = wanted.empty() ? merged.current_context : wanted;
  if (name.empty()) {
    return Invalid("'" + merged.files + "': no current-context: give --context, one of: " + Known(merged.contexts));
  }
  const Entry* context = FindEntry(merged.contexts, name);
  if (context == nullptr) {
    return Invalid("'" + merged.files + "': no context \"" + name + "\": there is: " + Known(merged.contexts));
  }
  const FieldReader reader(*context);
  const Entry* cluster = FindEntry(merged.clusters, reader.Text("cluster"));
  if (cluster == nullptr) {
    return Invalid(reader.Words("cluster") + ": no cluster \"" + reader.Text("cluster") +
                   "\": there is: " + Known(merged.clusters));
  }
  Connection connection;
  if (Status s = ReadCluster(*cluster, connection); !s) return tl::unexpected<Error>(std::move(s).error());
  // A context may name no user: then nobody in particular asks.
  const std::string user_name = reader.Text("user");
  const Entry* user = FindEntry(merged.users, user_name);
  if (user == nullptr && !user_name.empty()) {
    return Invalid(reader.Words("user") + ": no user \"" + user_name + "\": there is: " + Known(merged.users));
  }
  if (user != nullptr) {
    if (Status s = ReadUser(*user, connection); !s) return tl::unexpected<Error>(std::move(s).error());
  }
  connection.origin = "context \"" + name + "\", " + merged.files;
  return connection;
}

Result<Connection> LoadFiles(const std::vector<std::string>& files, bool missing_is_fine, const std::string& context) {
  Merged merged;
  for (const std::string& file : files) {
    const Result<std::string> text = ReadFile(file);
    if (!text && text.error().code == ErrorCode::kNotFound && missing_is_fine) continue;
    if (!text) return Annotate({ErrorCode::kInvalid, text.error().message}, "kubeconfig");
    if (Status s = MergeFile(file, *text, merged); !s) return tl::unexpected<Error>(std::move(s).error());
  }
  if (merged.files.empty()) return Fail(ErrorCode::kNotFound, "");
  try {
    return Resolve(merged, context);
  } catch (const YAML::Exception& exception) {
    return Invalid("'" + merged.files + "' is not a kubeconfig: " + exception.what());
  }
}

std::vector<std::string> SplitList(const std::string& list) {
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

bool Exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

Result<Connection> LoadServiceAccount(const std::string& folder, const std::string& host, const std::string& port) {
  const bool ipv6 = host.find(':') != std::string::npos;
  Connection connection{.server = "https://" + (ipv6 ? "[" + host + "]" : host) + ":" + port,
                        .origin = "service account, " + folder};
  Result<std::string> token = ReadFile(folder + "/token");
  if (!token) return Annotate({ErrorCode::kInvalid, token.error().message}, "service account");
  Result<std::string> ca = ReadFile(folder + "/ca.crt");
  if (!ca) return Annotate({ErrorCode::kInvalid, ca.error().message}, "service account");
  connection.token = Trimmed(*token);
  connection.ca_pem = *std::move(ca);
  return connection;
}

/// The places to look at, in their order, each with the words for the message that none was there.
class Search {
 public:
  explicit Search(const KubeconfigQuery& query) : query_(query) {}

  Result<Connection> Run() {
    if (!query_.file.empty()) return LoadFiles({query_.file}, false, query_.context);
    if (const auto list = query_.environment("KUBECONFIG")) {
      if (auto found = Try(SplitList(*list), "$KUBECONFIG (" + *list + ")")) return *std::move(found);
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
      return LoadServiceAccount(query_.service_account_folder, *host, *port);
    }
    tried_.emplace_back("a pod's service account");
    if (auto found = Try({query_.k3s_file}, query_.k3s_file)) return *std::move(found);
    return Invalid("no kubeconfig found: give --kubeconfig; looked at " + Tried());
  }

 private:
  /// Returns nothing when none of `files` is there.
  std::optional<Result<Connection>> Try(const std::vector<std::string>& files, const std::string& words) {
    Result<Connection> connection = LoadFiles(files, true, query_.context);
    if (connection || connection.error().code != ErrorCode::kNotFound) return connection;
    tried_.push_back(words);
    return std::nullopt;
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
