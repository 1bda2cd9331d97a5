// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/credentials.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "kube/auth/digest.h"
#include "kube/json/json.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

constexpr std::chrono::seconds kMargin{30};
constexpr std::chrono::seconds kLongestWithoutExpiry{600};
constexpr std::size_t kLargestBytes = std::size_t{1} << 20U;
constexpr std::int64_t kVersion = 1;
constexpr const char* kKeptSuffix = ".json";

bool UsesPlugin(const Connection& connection) {
  // As client-go: what stands in the kubeconfig itself goes before what a plugin would say.
  return !connection.exec.command.empty() && connection.token.empty() && connection.username.empty() &&
         connection.client_certificate.empty();
}

void Put(const Credential& credential, Connection& connection) {
  connection.token = credential.token;
  connection.client_certificate = credential.client_certificate;
}

/// Returns the name of the file for what a plugin says to just this question, asked in this environment: that decides
/// who one is too, by $AWS_PROFILE and the like. And what it says is for this server alone, verified as it is now.
std::string FileFor(const Connection& connection) {
  const ExecPlugin& plugin = connection.exec;
  JsonWriter question;
  question.Array([&] {
    for (const std::string& text :
         {connection.origin, connection.user, connection.server, connection.tls_server_name, connection.proxy,
          connection.authorities.pem(), std::string(connection.insecure_skip_tls_verify ? "insecure" : ""),
          plugin.api_version, plugin.command, plugin.cluster_json}) {
      question.String(text);
    }
    question.Array([&] {
      for (const std::string& argument : plugin.arguments) question.String(argument);
    });
    question.Array([&] {
      for (const std::string& variable : EnvironmentOf(plugin)) question.String(variable);
    });
  });
  return Sha256(question.text()) + kKeptSuffix;
}

/// The folder with what is kept, open.
class Store {
 public:
  /// Errors:  kInvalid: it can't be made, or others can look into it.
  static Result<Store> Open(const std::string& folder, bool make) {
    if (folder.empty()) return Fail(ErrorCode::kNotFound, "there is no folder for it: set XDG_CACHE_HOME or HOME");
    if (make) MakeFolders(folder);
    UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) return Fail(ErrorCode::kInvalid, "cannot open '" + folder + "': " + SystemMessage(errno));
    const FileFacts facts = FactsOf(fd.get());
    if (!facts.is_ours || facts.writable_by_others || facts.readable_by_others) {
      return Fail(ErrorCode::kInvalid, "'" + folder + "' is not ours alone: chmod 700 '" + folder + "'");
    }
    return Store(folder, std::move(fd));
  }

  /// Returns what was kept and is still good.
  std::optional<Credential> Read(const std::string& file, Time now) const {
    FileFacts facts;
    Result<std::string> text = ReadFileAt(fd_.get(), folder_, file, kLargestBytes, &facts);
    if (!text || !facts.is_regular || !facts.is_ours || facts.readable_by_others || facts.writable_by_others) {
      return std::nullopt;
    }
    JsonDocument document;
    if (!WithinDepth(*text) || !document.Parse(*text)) return std::nullopt;
    const JsonReader root = document.root();
    const Result<Time> good_until = ParseTime(root.String("goodUntil"));
    Credential credential{.token = root.OptionalString("token")};
    if (std::string key = root.OptionalString("clientKeyData"); !key.empty()) {
      Result<ClientCertificate> client =
          ClientCertificate::Read(root.OptionalString("clientCertificateData"), std::move(key));
      if (!client) return std::nullopt;
      credential.client_certificate = *std::move(client);
    }
    const bool whole = document.status() && root.IntIfPresent("version") == kVersion && good_until &&
                       (!credential.token.empty() || !credential.client_certificate.empty());
    // A clock that was set back must not make it good for years.
    if (!whole || now >= *good_until || *good_until - now > kLongestKept) return std::nullopt;
    return credential;
  }

  Status Write(const std::string& file, const Credential& credential, Time now) const {
    const Time good_until = credential.expires_at ? std::min(*credential.expires_at - kMargin, now + kLongestKept)
                                                  : now + kLongestWithoutExpiry;
    if (good_until <= now) return {};
    JsonWriter json;
    json.Object([&] {
      json.Int("version", kVersion);
      json.String("goodUntil", FormatTime(good_until));
      json.String("token", credential.token);
      json.String("clientCertificateData", credential.client_certificate.pem());
      json.String("clientKeyData", credential.client_certificate.key_pem());
    });
    return WriteFileDurably(fd_.get(), folder_, file, json.text());
  }

  void Remove(const std::string& file) const { ::unlinkat(fd_.get(), file.c_str(), 0); }

  /// Removes what has expired, of questions that may never be asked again.
  void Sweep(Time now) const {
    for (const std::string& file : NamesIn(fd_.get())) {
      if (file.ends_with(kKeptSuffix) && !Read(file, now)) Remove(file);
    }
  }

 private:
  static constexpr std::chrono::seconds kLongestKept = std::chrono::hours(24);

  Store(std::string folder, UniqueFd fd) : folder_(std::move(folder)), fd_(std::move(fd)) {}

  static void MakeFolders(const std::string& folder) {
    if (::mkdir(folder.c_str(), 0700) == 0 || errno != ENOENT || folder.find('/', 1) == std::string::npos) return;
    MakeFolders(FolderOf(folder));
    ::mkdir(folder.c_str(), 0700);
  }

  std::string folder_;
  UniqueFd fd_;
};

}  // namespace

std::string TrimToken(const std::string& text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string CredentialFolder(const Environment& environment) {
  constexpr const char* kBelow = "/credentials";
  // systemd gives a list; the first is as good as any.
  if (const auto list = environment("CACHE_DIRECTORY")) return list->substr(0, list->find(':')) + kBelow;
  if (const auto cache = environment("XDG_CACHE_HOME"); cache && cache->front() == '/') {
    return *cache + "/cnpa-op" + kBelow;
  }
  if (const auto home = environment("HOME"); home && home->front() == '/') return *home + "/.cache/cnpa-op" + kBelow;
  return {};
}

Status Credentials::Provide(Connection& connection) {
  if (!UsesPlugin(connection)) return {};
  const Result<Store> store = Store::Open(settings_.folder, false);
  if (store) {
    if (const std::optional<Credential> kept = store->Read(FileFor(connection), settings_.now())) {
      Put(*kept, connection);
      kept_ = true;
      return {};
    }
  }
  return Run(connection);
}

Result<bool> Credentials::Renew(Connection& connection) {
  if (kept_) {
    if (const Result<Store> store = Store::Open(settings_.folder, false)) store->Remove(FileFor(connection));
    kept_ = false;
    if (Status run = Run(connection); !run) return tl::unexpected<Error>(std::move(run).error());
    return true;
  }
  if (connection.token_file.empty()) return false;
  const Result<std::string> text = ReadFile(connection.token_file, kLargestBytes);
  if (!text) return false;
  std::string token = TrimToken(*text);
  if (token.empty() || token == connection.token) return false;
  connection.token = std::move(token);
  return true;
}

Status Credentials::Run(Connection& connection) const {
  settings_.on_note("running the exec plugin '" + connection.exec.command + "'");
  const Result<Credential> credential = RunExecPlugin(connection.exec, settings_.limits);
  if (!credential) return tl::unexpected<Error>(credential.error());
  Put(*credential, connection);
  const Result<Store> store = Store::Open(settings_.folder, true);
  if (store) store->Sweep(settings_.now());
  Status kept = store ? store->Write(FileFor(connection), *credential, settings_.now())
                      : Status(tl::unexpected<Error>(store.error()));
  // It works all the same, only slower.
  if (!kept) settings_.on_note("the credential is not kept for the next pass: " + kept.error().message);
  return {};
}

}  // namespace cnpa
