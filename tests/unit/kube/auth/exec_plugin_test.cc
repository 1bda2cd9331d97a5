// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/exec_plugin.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/certificates.h"
#include "support/temp_folder.h"
#include "support/text.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;

const std::string kV1 = "client.authentication.k8s.io/v1";

std::string Document(const std::string& status, const std::string& api_version = kV1) {
  return R"({"kind":"ExecCredential","apiVersion":")" + api_version + R"(","status":{)" + status + "}}";
}

/// In a JSON string.
std::string Escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\n");
  return text;
}

TEST_CASE("DecodeExecCredential reads tokens, certificates and their end", "[kube][exec]") {
  const Result<Credential> token =
      DecodeExecCredential(Document(R"("token":"t","expirationTimestamp":"2031-05-06T09:08:09+02:00")"), kV1);
  REQUIRE(ErrorOf(token) == std::nullopt);
  CHECK(*token == Credential{.token = "t", .expires_at = kNow});
  const Identity identity = MakeIdentity();
  const Result<Credential> certificate =
      DecodeExecCredential(Document(R"("clientCertificateData":")" + Escaped(identity.certificate_pem) +
                                    R"(","clientKeyData":")" + Escaped(identity.key_pem) + "\""),
                           kV1);
  REQUIRE(ErrorOf(certificate) == std::nullopt);
  CHECK(*certificate == Credential{.client_certificate = ClientOf(identity)});
}

TEST_CASE("DecodeExecCredential reads YAML, and passes over a byte order mark, as kubectl does", "[kube][exec]") {
  const std::string yaml = "kind: ExecCredential\napiVersion: " + kV1 +
                           "\nstatus:\n  token: t\n  expirationTimestamp: 2031-05-06T07:08:09Z\n";
  for (const std::string& text : {yaml, "---\n" + yaml, "\xEF\xBB\xBF" + yaml}) {
    CHECK(*DecodeExecCredential(text, kV1) == Credential{.token = "t", .expires_at = kNow});
  }
  const std::string null_expiry = Document(R"("token":"t","expirationTimestamp":null)");
  CHECK(*DecodeExecCredential("\xEF\xBB\xBF\n" + null_expiry, kV1) == Credential{.token = "t"});
}

TEST_CASE("DecodeExecCredential refuses all else, and quotes nothing of it", "[kube][exec]") {
  const Identity identity = MakeIdentity();
  struct Case {
    std::string text;
    std::string want;
  };
  const std::vector<Case> cases{
      {"", "it printed nothing"},
      {" \n", "it printed nothing"},
      {"\xEF\xBB\xBF", "it printed nothing"},
      {"\xEF\xBB\xBF \n", "it printed nothing"},
      {"\xEF\xBB\xBF# nothing", "it printed no ExecCredential: not JSON"},
      {"s3cret", "it printed no ExecCredential: not JSON"},
      {"[\"s3cret\"]", "it printed no ExecCredential: not JSON"},
      {std::string(100, '['), "it printed no ExecCredential: it nests too deeply"},
      {R"({"kind":"Secret","apiVersion":")" + kV1 + R"(","status":{"token":"s3cret"}})",
       "it printed no ExecCredential of " + kV1},
      {Document(R"("token":"s3cret")", "client.authentication.k8s.io/v1beta1"),
       "it printed no ExecCredential of " + kV1},
      {R"({"kind":"ExecCredential","apiVersion":")" + kV1 + "\"}",
       "its ExecCredential has neither a token nor a certificate"},
      {Document(R"("token":"")"), "its ExecCredential has neither a token nor a certificate"},
      {Document(R"("token":5)"), "its ExecCredential is not right: 'status.token' is not a string"},
      {"s3cret: [", "it printed no ExecCredential: neither JSON nor YAML"},
      {"\t{" + Document(R"("token":"s3cret")"), "it printed no ExecCredential: not JSON"},
      {Document(R"("token":"s3cret")") + Document(R"("token":"s3cret")"), "it printed no ExecCredential: not JSON"},
      {Document(R"("token":"s3cret\r\nX: y")"),
       "its ExecCredential is not right: status.token has a line break or another control character in it"},
      {Document(R"("token":"s3cret","expirationTimestamp":"")"),
       "its ExecCredential is not right: status.expirationTimestamp is no time"},
      {Document(R"("token":"s3cret","expirationTimestamp":"soon")"),
       "its ExecCredential is not right: status.expirationTimestamp is no time"},
      {Document(R"("clientKeyData":"s3cret")"),
       "its ExecCredential has a certificate without its key, or the other way round"},
      {Document(R"("clientCertificateData":"s3cret","clientKeyData":"s3cret")"),
       "its ExecCredential is not right: client certificate: holds no PEM certificate"},
      {Document(R"("clientCertificateData":")" + Escaped(identity.certificate_pem) + R"(","clientKeyData":")" +
                Escaped(MakeIdentity().key_pem) + "\""),
       "its ExecCredential is not right: client key: it does not belong to the client certificate"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.text.substr(0, 80)) {
      const Result<Credential> credential = DecodeExecCredential(c.text, kV1);
      CHECK(ErrorOf(credential) == Error{ErrorCode::kMalformed, c.want});
    }
  }
}

TEST_CASE("EncodeExecInfo tells a plugin of the cluster only what it is to know", "[kube][exec]") {
  ExecPlugin plugin{.command = "x", .api_version = kV1};
  CHECK(EncodeExecInfo(plugin, false) ==
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}})");
  plugin.cluster_json = R"({"server":"https://a"})";
  CHECK(EncodeExecInfo(plugin, true) ==
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":)"
        R"({"server":"https://a"},"interactive":true}})");
}

/// A plugin that is a shell script.
class Plugin {
 public:
  explicit Plugin(const std::string& script) {
    plugin.command = folder_.Write("plugin", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(plugin.command, std::filesystem::perms::owner_all);
    plugin.api_version = kV1;
  }

  Result<Credential> Run(milliseconds limit = milliseconds(20000)) const {
    return RunExecPlugin(plugin, {.time_limit = limit, .stop_requested = {}});
  }

  ExecPlugin plugin;

 private:
  TempFolder folder_;
};

TEST_CASE("RunExecPlugin gives a plugin its arguments, its variables and the question", "[kube][exec]") {
  Plugin script(R"sh(question=$(echo "$KUBERNETES_EXEC_INFO" | tr -d '"')
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":'
echo '{"token":"'"$1 $2 $A $HOME $question"'"}}')sh");
  script.plugin.arguments = {"one", "t w o"};
  script.plugin.environment = {{"A", "first"}, {"A", "last"}, {"HOME", "/nowhere"}};
  const Result<Credential> credential = script.Run();
  REQUIRE(ErrorOf(credential) == std::nullopt);
  CHECK(credential->token ==
        "one t w o last /nowhere "
        "{kind:ExecCredential,apiVersion:client.authentication.k8s.io/v1,spec:{interactive:false}}");
}

TEST_CASE("RunExecPlugin names the plugin and its last words when it fails", "[kube][exec]") {
  const auto error = [](const Plugin& script, milliseconds limit = milliseconds(20000)) {
    const Result<Credential> credential = script.Run(limit);
    REQUIRE_FALSE(credential);
    CHECK(credential.error().code == ErrorCode::kUnavailable);
    const std::string prefix = "exec plugin '" + script.plugin.command + "': ";
    CAPTURE(credential.error().message);
    REQUIRE(credential.error().message.starts_with(prefix));
    return credential.error().message.substr(prefix.size());
  };
  CHECK(error(Plugin("echo out; echo 'log in first' >&2; exit 3")) == "it ended with code 3: log in first");
  CHECK(error(Plugin("kill -9 $$")) == "it was ended by signal 9");
  CHECK(error(Plugin("echo s3cret")) == "it printed no ExecCredential: not JSON");
  CHECK(error(Plugin("sleep 60"), milliseconds(100)) == "it did not end within 100 ms");
  Plugin asks("true");
  asks.plugin.interaction = ExecPlugin::Interaction::kAlways;
  CHECK(error(asks) == "it must ask somebody (interactiveMode: Always), and standard input is no terminal");
  Plugin missing("true");
  missing.plugin.command = "no-such-plugin";
  missing.plugin.install_hint = "get it\nfrom there";
  CHECK(error(missing) == "there is no 'no-such-plugin' in $PATH: get it from there");
}

}  // namespace
}  // namespace cnpa
