// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/credentials.h"

#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "kube/json/json_writer.h"
#include "support/builders.h"
#include "support/catch.h"
#include "support/certificates.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// A plugin that gives "token-1", "token-2", ..., and passes that ask for it.
class Bench {
 public:
  explicit Bench(const std::string& more_status = {}) {
    connection.server = "https://10.0.0.1:6443";
    connection.exec.api_version = "client.authentication.k8s.io/v1";
    connection.exec.command = folder.Write(
        "plugin", "#!/bin/sh\necho run >> " + folder.Path("runs") + "\nn=$(wc -l < " + folder.Path("runs") +
                      ")\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
                      "\"status\":{\"token\":\"token-'$n'\"" +
                      more_status + "}}'\n");
    std::filesystem::permissions(connection.exec.command, std::filesystem::perms::owner_all);
  }

  Credentials Pass() {
    return Credentials({.limits = {.time_limit = seconds(20), .stop_requested = {}},
                        .folder = folder.Path("cache/credentials"),
                        .now = [this] { return now; },
                        .on_note = [this](const std::string& note) { notes.push_back(note); }});
  }

  /// Returns the token that a new pass begins with.
  std::string Token() {
    Connection copy = connection;
    REQUIRE(ErrorOf(Pass().Provide(copy)) == std::nullopt);
    return copy.token;
  }

  TempFolder folder;
  Connection connection;
  Time now = kNow;
  std::vector<std::string> notes;
};

TEST_CASE("Credentials keeps what a plugin gives until half a minute before it expires", "[kube][credentials]") {
  Bench bench(",\"expirationTimestamp\":\"" + FormatTime(kNow + hours(1)) + "\"");
  CHECK(bench.Token() == "token-1");
  CHECK(bench.Token() == "token-1");
  bench.now = kNow + hours(1) - seconds(31);
  CHECK(bench.Token() == "token-1");
  bench.now = kNow + hours(1) - seconds(30);
  CHECK(bench.Token() == "token-2");
}

TEST_CASE("Credentials keeps what does not say when it expires for ten minutes", "[kube][credentials]") {
  Bench bench;
  CHECK(bench.Token() == "token-1");
  bench.now = kNow + minutes(10) - seconds(1);
  CHECK(bench.Token() == "token-1");
  bench.now = kNow + minutes(10);
  CHECK(bench.Token() == "token-2");
}

TEST_CASE("Credentials does not keep what expires at once", "[kube][credentials]") {
  Bench bench(",\"expirationTimestamp\":\"" + FormatTime(kNow + seconds(20)) + "\"");
  CHECK(bench.Token() == "token-1");
  CHECK(bench.Token() == "token-2");
}

TEST_CASE("Credentials is not fooled by a clock that was set back", "[kube][credentials]") {
  Bench bench(",\"expirationTimestamp\":\"" + FormatTime(kNow + hours(1)) + "\"");
  CHECK(bench.Token() == "token-1");
  bench.now = kNow - hours(24 * 365);
  CHECK(bench.Token() == "token-2");
}

TEST_CASE("Credentials keeps each answer for its own question", "[kube][credentials]") {
  Bench bench;
  CHECK(bench.Token() == "token-1");
  bench.connection.exec.arguments = {"--other"};
  CHECK(bench.Token() == "token-2");
  bench.connection.exec.environment = {{"A", "b"}};
  CHECK(bench.Token() == "token-3");
  bench.connection.server = "https://10.0.0.2:6443";
  CHECK(bench.Token() == "token-4");
  CHECK(bench.Token() == "token-4");
}

TEST_CASE("Credentials keeps each answer for whom it was given to, and for the server as it is verified",
          "[kube][credentials]") {
  Bench bench;
  CHECK(bench.Token() == "token-1");
  const std::vector<std::function<void(Connection&)>> changes{
      [](Connection& connection) { connection.user = "other"; },
      [](Connection& connection) { connection.origin = "context \"other\", /file"; },
      [](Connection& connection) { connection.authorities = Trusting(MakeIdentity()); },
      [](Connection& connection) { connection.insecure_skip_tls_verify = true; },
      [](Connection& connection) { connection.tls_server_name = "other"; },
      [](Connection& connection) { connection.proxy = "http://127.0.0.1:9"; },
  };
  const Connection before = bench.connection;
  int runs = 1;
  for (const auto& change : changes) {
    bench.connection = before;
    change(bench.connection);
    const std::string token = "token-" + std::to_string(++runs);
    CHECK(bench.Token() == token);
    CHECK(bench.Token() == token);
  }
  bench.connection = before;
  CHECK(bench.Token() == "token-1");
  // What a cloud's tools go by, as $AWS_PROFILE.
  REQUIRE(::setenv("CNPA_OP_TEST_PROFILE", "admin", 1) == 0);
  CHECK(bench.Token() == "token-8");
  REQUIRE(::setenv("CNPA_OP_TEST_PROFILE", "readonly", 1) == 0);
  CHECK(bench.Token() == "token-9");
  REQUIRE(::unsetenv("CNPA_OP_TEST_PROFILE") == 0);
  CHECK(bench.Token() == "token-1");
}

TEST_CASE("Credentials keeps and uses a certificate as it does a token", "[kube][credentials]") {
  const Identity identity = MakeIdentity();
  const auto in_json = [](std::string pem) {
    for (std::size_t at = 0; (at = pem.find('\n', at)) != std::string::npos; at += 6) pem.replace(at, 1, "\\u000a");
    return pem;
  };
  Bench bench(",\"clientCertificateData\":\"" + in_json(identity.certificate_pem) + "\",\"clientKeyData\":\"" +
              in_json(identity.key_pem) + "\"");
  for (int pass = 0; pass < 2; ++pass) {
    Connection connection = bench.connection;
    REQUIRE(ErrorOf(bench.Pass().Provide(connection)) == std::nullopt);
    CHECK(connection.client_certificate == ClientOf(identity));
  }
  CHECK(bench.folder.Read("runs") == "run\n");
}

TEST_CASE("Credentials sweeps out what is good no more, of questions that are asked no more", "[kube][credentials]") {
  Bench bench(",\"expirationTimestamp\":\"" + FormatTime(kNow + hours(1)) + "\"");
  for (const char* argument : {"one", "two"}) {
    bench.connection.exec.arguments = {argument};
    bench.Token();
  }
  CHECK(bench.folder.Names("cache/credentials").size() == 2);
  bench.folder.Write("cache/credentials/of-somebody", "else");
  bench.now = kNow + hours(1);
  bench.connection.exec.arguments = {"three"};
  bench.Token();  // It expires at once, so it is not kept.
  CHECK(bench.folder.Names("cache/credentials") == std::set<std::string>{"of-somebody"});
}

TEST_CASE("Credentials keeps secrets from others", "[kube][credentials]") {
  Bench bench;
  CHECK(bench.Token() == "token-1");
  struct stat facts {};
  const std::string folder = bench.folder.Path("cache/credentials");
  REQUIRE(::stat(folder.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777U) == 0700U);
  const std::set<std::string> names = bench.folder.Names("cache/credentials");
  REQUIRE(names.size() == 1);
  const std::string file = folder + "/" + *names.begin();
  REQUIRE(::stat(file.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777U) == 0600U);

  SECTION("a file that others can read is not used") {
    REQUIRE(::chmod(file.c_str(), 0644) == 0);
    CHECK(bench.Token() == "token-2");
  }
  SECTION("a folder that others can read is not used, and it says so") {
    REQUIRE(::chmod(folder.c_str(), 0750) == 0);
    CHECK(bench.Token() == "token-2");
    CHECK(bench.notes.back() == "the credential is not kept for the next pass: '" + folder +
                                    "' is not ours alone: chmod 700 '" + folder + "'");
  }
  SECTION("a damaged file is as none") {
    for (const char* damaged :
         {"", "{", "[]", "{\"version\":1}", "{\"version\":2,\"goodUntil\":\"2031-05-06T07:10:09Z\",\"token\":\"x\"}"}) {
      bench.folder.Write("cache/credentials/" + *names.begin(), damaged);
      REQUIRE(::chmod(file.c_str(), 0600) == 0);
      CHECK(bench.Token() != "x");
    }
  }
  SECTION("a certificate with another's key is as none") {
    JsonWriter json;
    json.Object([&json] {
      json.Int("version", 1);
      json.String("goodUntil", "2031-05-06T07:10:09Z");
      json.String("token", "x");
      json.String("clientCertificateData", MakeIdentity().certificate_pem);
      json.String("clientKeyData", MakeIdentity().key_pem);
    });
    bench.folder.Write("cache/credentials/" + *names.begin(), json.text());
    REQUIRE(::chmod(file.c_str(), 0600) == 0);
    CHECK(bench.Token() == "token-2");
  }
}

TEST_CASE("Credentials throws away a kept token that is refused, and runs the plugin once more",
          "[kube][credentials]") {
  Bench bench;
  CHECK(bench.Token() == "token-1");
  Connection connection = bench.connection;
  Credentials pass = bench.Pass();
  REQUIRE(pass.Provide(connection));
  CHECK(connection.token == "token-1");
  CHECK(*pass.Renew(connection));
  CHECK(connection.token == "token-2");
  CHECK_FALSE(*pass.Renew(connection));  // It is fresh: the plugin has no other.
  CHECK(bench.Token() == "token-2");
}

TEST_CASE("Credentials runs no plugin where the kubeconfig has credentials itself", "[kube][credentials]") {
  Bench bench;
  for (std::string Connection::*field : {&Connection::token, &Connection::username}) {
    Connection connection = bench.connection;
    connection.*field = "own";
    CHECK(ErrorOf(bench.Pass().Provide(connection)) == std::nullopt);
    CHECK(connection.*field == "own");
  }
  Connection connection = bench.connection;
  connection.client_certificate = ClientOf(MakeIdentity());
  CHECK(ErrorOf(bench.Pass().Provide(connection)) == std::nullopt);
  CHECK(connection.token.empty());
  CHECK(bench.folder.Read("runs").empty());
}

TEST_CASE("Credentials reads a token file again when its token is refused", "[kube][credentials]") {
  const TempFolder folder;
  Bench bench;
  Connection connection{.server = "https://a", .token = "old", .token_file = folder.Write("token", "old\n")};
  Credentials pass = bench.Pass();
  REQUIRE(pass.Provide(connection));
  CHECK_FALSE(*pass.Renew(connection));
  folder.Write("token", " new \n");
  CHECK(*pass.Renew(connection));
  CHECK(connection.token == "new");
  folder.Write("token", "");
  CHECK_FALSE(*pass.Renew(connection));
}

TEST_CASE("CredentialFolder is systemd's, else the user's", "[kube][credentials]") {
  const auto folder = [](std::map<std::string, std::string> variables) {
    return CredentialFolder([variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
  };
  CHECK(folder({{"CACHE_DIRECTORY", "/var/cache/a:/var/cache/b"}, {"HOME", "/root"}}) == "/var/cache/a/credentials");
  CHECK(folder({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/root"}}) == "/x/cnpa-op/credentials");
  CHECK(folder({{"XDG_CACHE_HOME", "x"}, {"HOME", "/root"}}) == "/root/.cache/cnpa-op/credentials");
  CHECK(folder({}).empty());
}

}  // namespace
}  // namespace cnpa
