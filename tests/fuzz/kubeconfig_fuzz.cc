// SPDX-License-Identifier: Apache-2.0
//
// A kubeconfig in a folder with files that it may name: cert.pem, key.pem, token.
#include <memory>

#include "fuzz.h"
#include "kube/auth/kubeconfig.h"
#include "support/certificates.h"
#include "support/temp_folder.h"

namespace cnpa {
namespace {

std::unique_ptr<TempFolder> MakeFolder() {
  auto folder = std::make_unique<TempFolder>();
  const Identity identity = MakeIdentity();
  folder->Write("cert.pem", identity.certificate_pem);
  folder->Write("key.pem", identity.key_pem);
  folder->Write("token", "secret-token\n");
  return folder;
}

const TempFolder& Folder() {
  static const std::unique_ptr<TempFolder> kFolder = MakeFolder();
  return *kFolder;
}

void Check(const Result<Connection>& connection, const std::string& path) {
  RequireValueOr(ErrorCode::kInvalid, connection);
  if (!connection) {
    Require(connection.error().message.find(path) != std::string::npos, "the error names the file");
    return;
  }
  Require(!connection->server.empty() && !connection->server.ends_with('/'), "there is a server, without '/'");
  Require(connection->authorities.empty() || !connection->insecure_skip_tls_verify, "verified or not, but not both");
  Require(connection->token.find_first_of("\r\n") == std::string::npos, "a token can't begin another header");
  const Impersonation& as = connection->impersonate;
  Require((as.user + as.uid).find_first_of("\r\n") == std::string::npos, "nor can the name of somebody else");
  Require(!as.user.empty() || (as.uid.empty() && as.groups.empty() && as.extra.empty()), "groups belong to a user");
  Require(connection->exec.command.empty() || !connection->exec.api_version.empty(), "a plugin speaks some version");
}

}  // namespace

void Fuzz(std::string_view text) {
  KubeconfigQuery query;
  query.environment = [](const std::string& /*name*/) { return std::nullopt; };
  query.file = Folder().Write("config", std::string(text));
  for (const char* context : {"", "main"}) {
    query.context = context;
    const Result<Connection> connection = LoadConnection(query);
    Check(connection, query.file);
  }
  // The same file twice, as a list, defines nothing new.
  query.context.clear();
  const std::string alone = query.file;
  const Result<Connection> by_flag = LoadConnection(query);
  query.file.clear();
  query.k3s_file = "/none";
  query.service_account_folder = "/none";
  query.environment = [&alone](const std::string& name) -> std::optional<std::string> {
    if (name != "KUBECONFIG") return std::nullopt;
    return alone + ":" + Folder().Path("none") + ":" + alone;
  };
  const Result<Connection> by_list = LoadConnection(query);
  Require(by_flag.has_value() == by_list.has_value(), "a list of the file alone is the file");
  if (by_flag) Require(by_flag->server == by_list->server && by_flag->token == by_list->token, "and says the same");
}

}  // namespace cnpa
