// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/kubeconfig.h"

#include <map>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/certificates.h"
#include "support/temp_folder.h"
#include "support/testdata.h"
#include "support/text.h"

namespace cnpa {
namespace {

std::string Testdata(const std::string& file) {
  return TestdataFolder() + "/kubeconfig/" + file;
}

KubeconfigQuery Query(std::map<std::string, std::string> variables = {}) {
  KubeconfigQuery query;
  query.environment = [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second.empty()) return std::nullopt;
    return found->second;
  };
  query.service_account_folder = "/none/serviceaccount";
  query.k3s_file = "/none/k3s.yaml";
  return query;
}

Result<Connection> LoadFile(const std::string& file, const std::string& context = {}) {
  KubeconfigQuery query = Query();
  query.file = file;
  query.context = context;
  return LoadConnection(query);
}

/// A kubeconfig with one cluster, user and context called `name`.
std::string Kubeconfig(const std::string& name, const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: " + name + "\nclusters:\n- name: " + name + "\n  cluster: {" +
         cluster + "}\nusers:\n- name: " + name + "\n  user: {" + user + "}\ncontexts:\n- name: " + name +
         "\n  context: {cluster: " + name + ", user: " + name + "}\n";
}

const std::string kServer = "server: 'https://10.0.0.1:6443'";

TEST_CASE("LoadConnection reads server, token and origin", "[kube][kubeconfig]") {
  const Result<Connection> connection = LoadFile(Testdata("token.yaml"));
  REQUIRE(ErrorOf(connection) == std::nullopt);
  CHECK(connection->server == "https://10.0.0.1:6443/prefix");
  CHECK(connection->token == "secret-token");
  CHECK(connection->tls_server_name == "kubernetes.example");
  CHECK(connection->insecure_skip_tls_verify);
  CHECK(connection->origin == "context \"main\", " + Testdata("token.yaml"));
  CHECK(connection->authorities.empty());
  CHECK(connection->client_certificate.empty());
}

TEST_CASE("LoadConnection takes JSON, which is YAML too", "[kube][kubeconfig]") {
  const Result<Connection> connection = LoadFile(Testdata("config.json"));
  REQUIRE(ErrorOf(connection) == std::nullopt);
  CHECK(connection->server == "https://10.0.0.2:6443");
}

TEST_CASE("LoadConnection takes another context by name", "[kube][kubeconfig]") {
  const Result<Connection> connection = LoadFile(Testdata("contexts.yaml"), "other");
  REQUIRE(ErrorOf(connection) == std::nullopt);
  CHECK(connection->server == "https://10.0.0.2:6443");
  CHECK(connection->token == "two");
  CHECK(connection->origin == "context \"other\", " + Testdata("contexts.yaml"));
}

TEST_CASE("LoadConnection takes a context without a user", "[kube][kubeconfig]") {
  const Result<Connection> connection = LoadFile(Testdata("contexts.yaml"), "nobody");
  REQUIRE(ErrorOf(connection) == std::nullopt);
  CHECK(connection->token.empty());
}

TEST_CASE("LoadConnection reads certificates inline and from files relative to the kubeconfig", "[kube][kubeconfig]") {
  const TempFolder folder;
  const Identity client = MakeIdentity();
  const std::string ca = MakeIdentity().certificate_pem;
  std::string file;
  SECTION("inline") {
    file = folder.Write("config", Kubeconfig("main", kServer + ", certificate-authority-data: " + Base64(ca),
                                             "client-certificate-data: " + Base64(client.certificate_pem) +
                                                 ", client-key-data: " + Base64(client.key_pem)));
  }
  SECTION("relative paths") {
    folder.Write("sub/pki/ca.crt", ca);
    folder.Write("sub/client.crt", client.certificate_pem);
    folder.Write("client.key", client.key_pem);
    file = folder.Write("sub/config", Kubeconfig("main", kServer + ", certificate-authority: pki/ca.crt",
                                                 "client-certificate: client.crt, client-key: ../client.key"));
  }
  SECTION("absolute paths") {
    file = folder.Write("config",
                        Kubeconfig("main", kServer + ", certificate-authority: " + folder.Write("a/ca.crt", ca),
                                   "client-certificate: " + folder.Write("b/client.crt", client.certificate_pem) +
                                       ", client-key: " + folder.Write("c/client.key", client.key_pem)));
  }
  const Result<Connection> connection = LoadFile(file);
  REQUIRE(ErrorOf(connection) == std::nullopt);
  CHECK(connection->authorities.pem() == ca);
  CHECK(connection->client_certificate.pem() == client.certificate_pem);
  CHECK(connection->client_certificate.key_pem() == client.key_pem);
}

TEST_CASE("LoadConnection takes the token of tokenFile, trimmed, before the token beside it", "[kube][kubeconfig]") {
  const TempFolder folder;
  folder.Write("token", "\n from-file \n");
  const std::string file = folder.Write("config", Kubeconfig("main", kServer, "token: inline, tokenFile: token"));
  const Result<Connection> connection = LoadFile(file);
  REQUIRE(ErrorOf(connection) == std::nullopt);
  CHECK(connection->token == "from-file");
}

TEST_CASE("LoadConnection reads basic authentication and impersonation", "[kube][kubeconfig]") {
  const TempFolder folder;
  const Result<Connection> connection = LoadFile(folder.Write(
      "config", Kubeconfig("main", kServer,
                           "username: me, password: 'pass:word', as: other, as-uid: '7', as-groups: [a, b], "
                           "as-user-extra: {scopes: [x, z], empty: []}")));
  REQUIRE(ErrorOf(connection) == std::nullopt);
  CHECK(connection->username == "me");
  CHECK(connection->password == "pass:word");
  CHECK(connection->impersonate.user == "other");
  CHECK(connection->impersonate.uid == "7");
  CHECK(connection->impersonate.groups == std::vector<std::string>{"a", "b"});
  CHECK(connection->impersonate.extra ==
        std::vector<std::pair<std::string, std::string>>{{"scopes", "x"}, {"scopes", "z"}});
}

TEST_CASE("LoadConnection reads an exec plugin and runs nothing", "[kube][kubeconfig]") {
  const TempFolder folder;
  const std::string file = folder.Write(
      "sub/config",
      Kubeconfig("main",
                 kServer + ", tls-server-name: name, extensions: [{name: client.authentication.k8s.io/exec, extension: "
                           "{audience: me, n: 1}}]",
                 "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/get, args: [a, '1'], env: [{name: "
                 "'N', value: v}], interactiveMode: Never, provideClusterInfo: true, installHint: \" try this\\n\"}"));
  const Result<Connection> connection = LoadFile(file);
  REQUIRE(ErrorOf(connection) == std::nullopt);
  const ExecPlugin& plugin = connection->exec;
  CHECK(plugin.command == folder.Path("sub") + "/./bin/get");
  CHECK(plugin.arguments == std::vector<std::string>{"a", "1"});
  CHECK(plugin.environment == std::vector<std::pair<std::string, std::string>>{{"N", "v"}});
  CHECK(plugin.interaction == ExecPlugin::Interaction::kNever);
  CHECK(plugin.install_hint == "try this");
  CHECK(plugin.cluster_json ==
        R"({"server":"https://10.0.0.1:6443","tls-server-name":"name","config":{"audience":"me","n":1}})");
}

TEST_CASE("LoadConnection takes a plugin's name for one to find in $PATH, and v1beta1 asks if it can",
          "[kube][kubeconfig]") {
  const TempFolder folder;
  const Result<Connection> connection = LoadFile(folder.Write(
      "config", Kubeconfig("main", kServer, "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws}")));
  REQUIRE(ErrorOf(connection) == std::nullopt);
  CHECK(connection->exec.command == "aws");
  CHECK(connection->exec.interaction == ExecPlugin::Interaction::kIfAvailable);
  CHECK(connection->exec.cluster_json.empty());
}

TEST_CASE("LoadConnection takes proxy-url, else the environment by Go's rules", "[kube][kubeconfig]") {
  const TempFolder folder;
  const auto proxy = [&folder](const std::string& cluster, const std::map<std::string, std::string>& variables) {
    KubeconfigQuery query = Query(variables);
    query.file = folder.Write("config", Kubeconfig("main", cluster, ""));
    const Result<Connection> connection = LoadConnection(query);
    REQUIRE(ErrorOf(connection) == std::nullopt);
    return connection->proxy;
  };
  const std::string own = ", proxy-url: 'socks5://own'";
  CHECK(proxy(kServer, {}).empty());
  CHECK(proxy(kServer + own, {}) == "socks5://own:1080");
  CHECK(proxy(kServer + own, {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", "*"}}) == "socks5://own:1080");
  CHECK(proxy(kServer, {{"HTTPS_PROXY", "http://p:1"}}) == "http://p:1");
  CHECK(proxy(kServer, {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", "10.0.0.0/8"}}).empty());
  CHECK(proxy("server: 'https://127.0.0.1:1'" + own, {}) == "socks5://own:1080");
}

TEST_CASE("LoadConnection takes an address without a scheme for https, as credentials need", "[kube][kubeconfig]") {
  const TempFolder folder;
  const auto server = [&folder](const std::string& address) {
    return LoadFile(folder.Write("config", Kubeconfig("main", "server: '" + address + "'", "")))->server;
  };
  CHECK(server("10.0.0.1:6443") == "https://10.0.0.1:6443");
  CHECK(server("https://a/b/") == "https://a/b");
  CHECK(server("https://a/b?c=d#e") == "https://a/b");
}

TEST_CASE("LoadConnection minds who can write a kubeconfig: it names programs to run", "[kube][kubeconfig]") {
  const TempFolder folder;
  const std::string file = folder.Write("config", Kubeconfig("main", kServer, ""));
  KubeconfigQuery query = Query();
  query.file = file;
  const std::string what =
      "kubeconfig: '" + file + "' can be written by others than its owner: chmod go-w '" + file + "'";
  for (const auto mode : {0664, 0602, 0666}) {
    CAPTURE(mode);
    REQUIRE(::chmod(file.c_str(), static_cast<mode_t>(mode)) == 0);
    query.is_root = true;
    CHECK(ErrorOf(LoadConnection(query)) == Error{ErrorCode::kInvalid, what});
    query.is_root = false;
    const Result<Connection> connection = LoadConnection(query);
    REQUIRE(ErrorOf(connection) == std::nullopt);
    CHECK(connection->warnings == std::vector<std::string>{what});
  }
  REQUIRE(::chmod(file.c_str(), 0644) == 0);
  query.is_root = true;
  CHECK(LoadConnection(query)->warnings.empty());
  const std::string& above = folder.path();
  REQUIRE(::chmod(above.c_str(), 0777) == 0);
  CHECK(ErrorOf(LoadConnection(query)) ==
        Error{ErrorCode::kInvalid, "kubeconfig: '" + file + "' can be replaced by others, who can write the folder '" +
                                       above + "': chmod go-w '" + above + "'"});
  query.is_root = false;
  CHECK(LoadConnection(query)->warnings.empty());
}

TEST_CASE("LoadConnection takes fields without effect and empty ones for absent", "[kube][kubeconfig]") {
  const TempFolder folder;
  const std::string file =
      folder.Write("config", Kubeconfig("main",
                                        kServer + ", proxy-url: '', disable-compression: true, extensions: "
                                                  "[], tls-server-name: null",
                                        "exec: null, username: '', token: t"));
  CHECK(ErrorOf(LoadFile(file)) == std::nullopt);
}

TEST_CASE("LoadConnection names file, entry and field of what is wrong", "[kube][kubeconfig]") {
  const TempFolder folder;
  const Identity client = MakeIdentity();
  const std::string certificate = "client-certificate-data: " + Base64(client.certificate_pem);
  const std::string key = "client-key-data: " + Base64(client.key_pem);
  folder.Write("empty", " \n");
  struct Case {
    std::string name;
    std::string cluster;
    std::string user;
    std::string want;
  };
  const std::vector<Case> cases{
      {"no server", "tls-server-name: x", "", "cluster \"main\": server: missing"},
      {"a server of slashes", "server: ///", "", "cluster \"main\": server: missing"},
      {"both CA file and data", kServer + ", certificate-authority: x, certificate-authority-data: eA==", "",
       "cluster \"main\": certificate-authority: both certificate-authority and certificate-authority-data "
       "are there: keep one"},
      {"a CA file that is not there", kServer + ", certificate-authority: none.crt", "",
       "cluster \"main\": certificate-authority: cannot read '" + folder.Path("none.crt") +
           "': no such file or directory"},
      {"a CA that is not base64", kServer + ", certificate-authority-data: '%%'", "",
       "cluster \"main\": certificate-authority-data: not base64"},
      {"a CA without certificate", kServer + ", certificate-authority-data: eA==", "",
       "cluster \"main\": certificate-authority: holds no PEM certificate"},
      {"a CA and no verification",
       kServer + ", insecure-skip-tls-verify: true, certificate-authority-data: " + Base64(client.certificate_pem), "",
       "cluster \"main\": insecure-skip-tls-verify: and a certificate-authority too: keep one"},
      {"a certificate without key", kServer, certificate,
       "user \"main\": client-key: missing, though its other half is there"},
      {"a key without certificate", kServer, key,
       "user \"main\": client-certificate: missing, though its other half is there"},
      {"both key file and data", kServer, certificate + ", " + key + ", client-key: x",
       "user \"main\": client-key: both client-key and client-key-data are there: keep one"},
      {"another's key", kServer, certificate + ", client-key-data: " + Base64(MakeIdentity().key_pem),
       "user \"main\": client key: it does not belong to the client certificate"},
      {"an encrypted key", kServer, certificate + ", client-key-data: " + Base64(Encrypted(client.key_pem)),
       "user \"main\": client key: it is encrypted, and nobody can type a pass phrase"},
      {"a token file that is not there", kServer, "tokenFile: none",
       "user \"main\": tokenFile: cannot read '" + folder.Path("none") + "': no such file or directory"},
      {"an empty token file", kServer, "tokenFile: empty", "user \"main\": tokenFile: 'empty' is empty"},
      {"a token with a line break", kServer, "token: \"a\\r\\nX-Header: b\"",
       "user \"main\": token: has a line break or another control character in it"},
      {"a token that is a number", kServer, "token: 123", "user \"main\": token: not a text: put it in quotes"},
      {"a key in place of its file", kServer, "client-key: \"-----BEGIN PRIVATE KEY-----\\nMIGH\"",
       "user \"main\": client-key: not the name of a file: what stands in the kubeconfig itself belongs to "
       "client-key-data, in base64"},
      {"a password in the address", "server: 'https://me:s3cret@a'", "",
       "cluster \"main\": server: names a user: username and password belong to the user's entry"},
      {"a scheme alone", "server: 'https://'", "", "cluster \"main\": server: missing"},
      {"a bad escape in the address", "server: 'https://a/b%zz'", "",
       "cluster \"main\": server: a '%' that is not followed by two hexadecimal digits"},
      {"two extensions of one name", kServer + ", extensions: [{name: a}, {name: a}]", "",
       "cluster \"main\": extensions: two are called 'a'"},
      {"an empty plugin", kServer, "exec: {}", "user \"main\": exec: command: missing"},
      {"a token that is a list", kServer, "token: [a]", "user \"main\": token: not a text"},
      {"a switch that is none", kServer + ", insecure-skip-tls-verify: 'true'", "",
       "cluster \"main\": insecure-skip-tls-verify: neither true nor false"},
      {"an auth provider", kServer, "auth-provider: {name: gcp}",
       "user \"main\": auth-provider: Kubernetes has none any more: use an exec plugin, a client certificate or a "
       "token"},
      {"a token and a password", kServer, "token: t, username: me, password: p",
       "user \"main\": username: and a token too: keep one of the two"},
      {"groups without a user", kServer, "as-groups: [a]",
       "user \"main\": as: missing, though as-uid, as-groups or as-user-extra is there"},
      {"a header in a group", kServer, "as: a, as-groups: [\"a\\nX: b\"]",
       "user \"main\": as-groups: has a line break or another control character in it"},
      {"extra of another type", kServer, "as: a, as-user-extra: {b: c}",
       "user \"main\": as-user-extra: not a map of lists"},
      {"a proxy that is none", kServer + ", proxy-url: 'ftp://me:s3cret@proxy'", "",
       "cluster \"main\": proxy-url: not a proxy such as http://proxy.example:3128, https://... or socks5://..."},
      {"disable-compression in quotes", kServer + ", disable-compression: 'yes'", "",
       "cluster \"main\": disable-compression: neither true nor false"},
      {"a path for tls-server-name", kServer + ", tls-server-name: a/b", "",
       "cluster \"main\": tls-server-name: neither the name of a host nor an IP address"},
      {"a user in tls-server-name", kServer + ", tls-server-name: u@h", "",
       "cluster \"main\": tls-server-name: neither the name of a host nor an IP address"},
      {"half an address for tls-server-name", kServer + ", tls-server-name: '[::1'", "",
       "cluster \"main\": tls-server-name: neither the name of a host nor an IP address"},
      {"a port in tls-server-name", kServer + ", tls-server-name: 'host:443'", "",
       "cluster \"main\": tls-server-name: neither the name of a host nor an IP address"},
      {"a plugin without command", kServer,
       "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
       "user \"main\": exec: command: missing"},
      {"a plugin without version", kServer, "exec: {command: x, interactiveMode: Never}",
       "user \"main\": exec: apiVersion: missing"},
      {"a plugin of an old version", kServer,
       "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x, interactiveMode: Never}",
       "user \"main\": exec: apiVersion: 'client.authentication.k8s.io/v1alpha1' is neither "
       "client.authentication.k8s.io/v1 nor v1beta1"},
      {"a plugin without mode", kServer, "exec: {apiVersion: client.authentication.k8s.io/v1, command: x}",
       "user \"main\": exec: interactiveMode: missing: Never, for a plugin that asks nobody"},
      {"a plugin of another mode", kServer,
       "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Sometimes}",
       "user \"main\": exec: interactiveMode: 'Sometimes' is none of Never, IfAvailable, Always"},
      {"a variable without name", kServer,
       "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Never, env: [{value: v}]}",
       "user \"main\": exec: env: an entry without name"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const std::string file = folder.Write("config", Kubeconfig("main", c.cluster, c.user));
      CHECK(ErrorOf(LoadFile(file)) == Error{ErrorCode::kInvalid, "'" + file + "': " + c.want});
    }
  }
}

TEST_CASE("LoadConnection names what there is when a name is missing", "[kube][kubeconfig]") {
  const std::string contexts = Testdata("contexts.yaml");
  CHECK(ErrorOf(LoadFile(contexts, "lost")) ==
        Error{ErrorCode::kInvalid,
              "'" + contexts + "': no context \"lost\": there is: main, other, nobody, no-cluster, no-user"});
  CHECK(ErrorOf(LoadFile(contexts, "no-cluster")) ==
        Error{ErrorCode::kInvalid, "'" + contexts +
                                       "': context \"no-cluster\": cluster: no cluster \"lost\": there is: one, "
                                       "two"});
  CHECK(ErrorOf(LoadFile(contexts, "no-user")) ==
        Error{ErrorCode::kInvalid,
              "'" + contexts + "': context \"no-user\": user: no user \"lost\": there is: one, two"});
  const std::string none = Testdata("no-current-context.yaml");
  CHECK(ErrorOf(LoadFile(none)) ==
        Error{ErrorCode::kInvalid, "'" + none + "': no current-context: give --context, one of: main"});
}

TEST_CASE("LoadConnection refuses what is no kubeconfig", "[kube][kubeconfig]") {
  const TempFolder folder;
  struct Case {
    std::string name;
    std::string text;
    std::string want;
  };
  const std::vector<Case> cases{
      {"text", "hello", "is not a kubeconfig: no map of clusters, users and contexts"},
      {"a list", "[a, b]", "is not a kubeconfig: no map of clusters, users and contexts"},
      {"another kind", "kind: Secret\n", "is not a kubeconfig: its kind is 'Secret', not Config"},
      {"bad YAML", "a: b\nc: [d\n", "not YAML"},
      {"a tab", "a:\n\t- b\n", "not YAML"},
      {"clusters of another type", "clusters: {}\n", "'clusters' is not a list"},
      {"users of another type", "users: x\n", "'users' is not a list"},
      {"two users of one name", "users:\n- name: a\n  user: {}\n- name: a\n  user: {}\n", "two users are called \"a\""},
      {"a key twice", "clusters: []\nclusters: []\n", "is not a kubeconfig: line 2: clusters: stands here twice"},
      {"contexts of another type", "contexts: 1\n", "'contexts' is not a list"},
      {"bytes",
       std::string("\x7f"
                   "ELF\x02\x00\x00",
                   7),
       "is not a kubeconfig"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const std::string file = folder.Write("config", c.text);
      const Result<Connection> connection = LoadFile(file);
      REQUIRE_FALSE(connection);
      CHECK(connection.error().code == ErrorCode::kInvalid);
      CHECK(connection.error().message.starts_with("'" + file + "'"));
      CAPTURE(connection.error().message);
      CHECK(Contains(connection.error().message, c.want));
    }
  }
}

TEST_CASE("LoadConnection never quotes a secret", "[kube][kubeconfig]") {
  const TempFolder folder;
  for (const std::string user : {"token: \"s3cret\\n\"", "client-key-data: s3cret!",
                                 "client-certificate-data: czNjcmV0, client-key-data: "
                                 "czNjcmV0"}) {
    const Result<Connection> connection = LoadFile(folder.Write("config", Kubeconfig("main", kServer, user)));
    CAPTURE(user);
    REQUIRE_FALSE(connection);
    CHECK(connection.error().message.find("s3cret") == std::string::npos);
    CHECK(connection.error().message.find("czNjcmV0") == std::string::npos);
  }
}

TEST_CASE("LoadConnection says of --kubeconfig that the file is missing, and looks nowhere else",
          "[kube][kubeconfig]") {
  const TempFolder folder;
  folder.Write("home/.kube/config", Kubeconfig("home", kServer, ""));
  KubeconfigQuery query = Query({{"HOME", folder.Path("home")}});
  query.file = folder.Path("none");
  CHECK(ErrorOf(LoadConnection(query)) ==
        Error{ErrorCode::kInvalid, "kubeconfig: cannot read '" + folder.Path("none") + "': no such file or directory"});
}

TEST_CASE("LoadConnection searches the places in their order", "[kube][kubeconfig]") {
  const TempFolder folder;
  const auto write = [&folder](const std::string& path, const std::string& name) {
    return folder.Write(path, Kubeconfig(name, "server: 'https://" + name + ":6443'", ""));
  };
  KubeconfigQuery query = Query({{"KUBECONFIG", write("listed", "listed")},
                                 {"CREDENTIALS_DIRECTORY", folder.Path("credentials")},
                                 {"HOME", folder.Path("home")},
                                 {"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                                 {"KUBERNETES_SERVICE_PORT", "443"}});
  query.service_account_folder = folder.Path("account");
  query.k3s_file = write("k3s.yaml", "k3s");
  query.file = write("given", "given");
  write("credentials/kubeconfig", "credentials");
  write("home/.kube/config", "home");
  folder.Write("account/token", "account-token\n");
  folder.Write("account/ca.crt", MakeIdentity().certificate_pem);
  const auto server = [&query] {
    const Result<Connection> connection = LoadConnection(query);
    REQUIRE(ErrorOf(connection) == std::nullopt);
    return connection->server;
  };
  CHECK(server() == "https://given:6443");
  query.file.clear();
  CHECK(server() == "https://listed:6443");
  std::filesystem::remove(folder.Path("listed"));
  // Who names a cluster does not mean another one.
  CHECK(ErrorOf(LoadConnection(query)) ==
        Error{ErrorCode::kInvalid, "kubeconfig: $KUBECONFIG (" + folder.Path("listed") + "): no such file"});
  query.environment = Query({{"CREDENTIALS_DIRECTORY", folder.Path("credentials")},
                             {"HOME", folder.Path("home")},
                             {"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                             {"KUBERNETES_SERVICE_PORT", "443"}})
                          .environment;
  CHECK(server() == "https://credentials:6443");
  std::filesystem::remove(folder.Path("credentials/kubeconfig"));
  CHECK(server() == "https://home:6443");
  std::filesystem::remove(folder.Path("home/.kube/config"));
  CHECK(server() == "https://10.0.0.1:443");
  query.context = "prod";
  CHECK(ErrorOf(LoadConnection(query)) ==
        Error{ErrorCode::kInvalid,
              "no context \"prod\": a pod's service account has none, and there is no kubeconfig: give --kubeconfig; "
              "looked at $KUBECONFIG, " +
                  folder.Path("credentials/kubeconfig") + ", " + folder.Path("home/.kube/config")});
  query.context.clear();
  std::filesystem::remove(folder.Path("account/token"));
  CHECK(server() == "https://k3s:6443");
  std::filesystem::remove(query.k3s_file);
  CHECK(ErrorOf(LoadConnection(query)) ==
        Error{ErrorCode::kInvalid, "no kubeconfig found: give --kubeconfig; looked at $KUBECONFIG, " +
                                       folder.Path("credentials/kubeconfig") + ", " + folder.Path("home/.kube/config") +
                                       ", a pod's service account, " + query.k3s_file});
}

TEST_CASE("LoadConnection names the places that were tried when nothing is set", "[kube][kubeconfig]") {
  CHECK(ErrorOf(LoadConnection(Query())) ==
        Error{ErrorCode::kInvalid,
              "no kubeconfig found: give --kubeconfig; looked at $KUBECONFIG, a pod's service account, "
              "/none/k3s.yaml"});
}

TEST_CASE("LoadConnection does not pass over a file that is there and broken", "[kube][kubeconfig]") {
  const TempFolder folder;
  folder.Write("home/.kube/config", "hello");
  KubeconfigQuery query = Query({{"HOME", folder.Path("home")}});
  query.k3s_file = folder.Write("k3s.yaml", Kubeconfig("k3s", kServer, ""));
  CHECK(ErrorOf(LoadConnection(query)) ==
        Error{ErrorCode::kInvalid, "'" + folder.Path("home/.kube/config") +
                                       "' is not a kubeconfig: no map of clusters, users and contexts"});
}

TEST_CASE("LoadConnection reads a pod's service account", "[kube][kubeconfig]") {
  const TempFolder folder;
  const std::string ca = MakeIdentity().certificate_pem;
  folder.Write("token", "account-token\n");
  folder.Write("ca.crt", ca);
  const auto load = [&folder](const std::string& host) {
    KubeconfigQuery query = Query({{"KUBERNETES_SERVICE_HOST", host}, {"KUBERNETES_SERVICE_PORT", "6443"}});
    query.service_account_folder = folder.path();
    return LoadConnection(query);
  };
  const Result<Connection> connection = load("10.0.0.1");
  REQUIRE(ErrorOf(connection) == std::nullopt);
  CHECK(connection->server == "https://10.0.0.1:6443");
  CHECK(connection->token == "account-token");
  CHECK(connection->authorities.pem() == ca);
  CHECK(connection->origin == "service account, " + folder.path());
  CHECK(load("fd00::1")->server == "https://[fd00::1]:6443");
  folder.Write("token", " \n");
  CHECK(ErrorOf(load("10.0.0.1")) ==
        Error{ErrorCode::kInvalid, "service account: '" + folder.Path("token") + "' is empty"});
  folder.Write("token", "account-token");
  for (const char* bad : {"", "words"}) {
    folder.Write("ca.crt", bad);
    CHECK(ErrorOf(load("10.0.0.1")) ==
          Error{ErrorCode::kInvalid, "service account: '" + folder.Path("ca.crt") + "': holds no PEM certificate"});
  }
  std::filesystem::remove(folder.Path("ca.crt"));
  CHECK(ErrorOf(load("10.0.0.1")) ==
        Error{ErrorCode::kInvalid,
              "service account: cannot read '" + folder.Path("ca.crt") + "': no such file or directory"});
}

TEST_CASE("LoadConnection merges $KUBECONFIG: the first file to set a name or the current context wins",
          "[kube][kubeconfig]") {
  const TempFolder folder;
  folder.Write("a/token", "token-of-a");
  const std::string a = folder.Write("a/config",
                                     "users:\n- name: shared\n  user: {tokenFile: token}\n"
                                     "contexts:\n- name: main\n  context: {cluster: shared, user: shared}\n");
  const std::string b =
      folder.Write("b/config",
                   "current-context: main\nclusters:\n- name: shared\n  cluster: {server: 'https://b:1'}\n"
                   "users:\n- name: shared\n  user: {token: token-of-b}\n");
  const std::string c = folder.Write("c/config", Kubeconfig("shared", "server: 'https://c:1'", "token: c"));
  const auto load = [](const std::string& list) { return LoadConnection(Query({{"KUBECONFIG", list}})); };
  const Result<Connection> merged = load(a + ":" + folder.Path("missing") + "::" + b + ":" + c + ":" + a);
  REQUIRE(ErrorOf(merged) == std::nullopt);
  CHECK(merged->server == "https://b:1");
  CHECK(merged->token == "token-of-a");  // Relative to the file that it stands in.
  CHECK(merged->origin == "context \"main\", " + a + ":" + b + ":" + c);
  CHECK(load(c + ":" + b)->server == "https://c:1");
}

TEST_CASE("LoadConnection merges an empty file of $KUBECONFIG as kubectl does: it sets nothing", "[kube][kubeconfig]") {
  const TempFolder folder;
  const std::string empty = folder.Write("empty", "");
  const std::string good = folder.Write("good", Kubeconfig("main", kServer, ""));
  CHECK(ErrorOf(LoadConnection(Query({{"KUBECONFIG", empty + ":" + good}}))) == std::nullopt);
}

}  // namespace
}  // namespace cnpa
