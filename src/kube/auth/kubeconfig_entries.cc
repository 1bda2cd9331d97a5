// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/kubeconfig_entries.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <utility>

#include "base/base64.h"
#include "base/file.h"
#include "base/percent.h"
#include "kube/auth/certificate.h"
#include "kube/auth/credentials.h"
#include "kube/auth/header_value.h"
#include "kube/auth/kubeconfig_fields.h"
#include "kube/auth/proxy.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

bool NamesUser(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return false;
  return url.substr(scheme + 3, url.find('/', scheme + 3) - scheme - 3).find('@') != std::string::npos;
}

/// The address without '/' at its end; without a scheme it is https, which is all that credentials are sent over.
std::string Address(std::string server) {
  server = server.substr(0, server.find_first_of("?#"));
  while (server.ends_with('/')) server.pop_back();
  if (server == "https:" || server == "http:") return {};
  if (!server.empty() && server.find("://") == std::string::npos) server.insert(0, "https://");
  return server;
}

/// Returns whether `text` is a host's name or IP address; one of IPv6 may stand in brackets.
bool IsHost(std::string text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  if (text.find(':') != std::string::npos) {
    in6_addr address{};
    return ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
  }
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
  });
}

/// Reads what the server's certificate is verified by.
void ReadTrust(FieldReader& reader, Connection& connection) {
  connection.tls_server_name = reader.Text("tls-server-name");
  connection.insecure_skip_tls_verify = reader.Flag("insecure-skip-tls-verify");
  std::string authorities = reader.Bytes("certificate-authority");
  if (!connection.tls_server_name.empty() && !IsHost(connection.tls_server_name)) {
    reader.Fail("tls-server-name", "neither the name of a host nor an IP address");
  }
  if (authorities.empty()) return;
  if (connection.insecure_skip_tls_verify) {
    reader.Fail("insecure-skip-tls-verify", "and a certificate-authority too: keep one");
  }
  Result<Authorities> read = Authorities::Read(std::move(authorities));
  if (!read) return reader.Fail("certificate-authority", read.error().message);
  connection.authorities = *std::move(read);
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
  if (!IsHeaderValue(connection.token)) reader.Fail("token", std::string(kNoHeaderValue));
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
    if (!IsHeaderValue(text)) reader.Fail(field, std::string(kNoHeaderValue));
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

}  // namespace

Status ReadCluster(const KubeconfigEntry& entry, const Environment& environment, Connection& connection) {
  FieldReader reader(entry);
  connection.server = Address(reader.Text("server"));
  ReadTrust(reader, connection);
  const std::string proxy_url = reader.Text("proxy-url");
  reader.Flag("disable-compression");
  reader.CheckExtensions();
  if (connection.server.empty()) reader.Fail("server", "missing");
  if (!PercentDecode(connection.server)) reader.Fail("server", "a '%' that is not followed by two hexadecimal digits");
  if (NamesUser(connection.server)) {
    // Not quoted: it may have a password.
    reader.Fail("server", "names a user: username and password belong to the user's entry");
  }
  if (!reader.status()) return reader.status();
  Result<std::string> proxy =
      proxy_url.empty() ? ProxyFromEnvironment(connection.server, environment) : ParseProxyUrl(proxy_url);
  if (!proxy) return Annotate(std::move(proxy).error(), proxy_url.empty() ? "$HTTPS_PROXY" : reader.Words("proxy-url"));
  connection.proxy = *std::move(proxy);
  return {};
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

}  // namespace cnpa
