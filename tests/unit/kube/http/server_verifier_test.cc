// SPDX-License-Identifier: Apache-2.0
//
// Against a real TLS server on loopback, by way of the real transport.
#include "kube/http/server_verifier.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kube/http/curl_transport.h"
#include "support/catch.h"
#include "support/certificates.h"
#include "support/loopback_server.h"
#include "support/text.h"

namespace cnpa {
namespace {

/// Returns why a server with the certificates of `identity` is refused; "" when it is not.
std::string Refusal(const Identity& identity, const std::string& authorities, const std::string& name = {}) {
  const LoopbackServer server(identity, [](const auto&) { return HttpAnswer(200, "{}"); });
  const Connection connection{.server = "https://127.0.0.1:" + std::to_string(server.port()),
                              .authorities = *Authorities::Read(authorities),
                              .tls_server_name = name};
  const auto transport =
      CurlTransport::Create(connection, {.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30)}, {});
  REQUIRE(ErrorOf(transport) == std::nullopt);
  std::string refusal;
  (*transport)->Start({.path = "/"}, [&](const Result<Response>& response) {
    if (response) return;
    CHECK(response.error().code == ErrorCode::kInvalid);
    refusal = response.error().message.substr(("cannot reach " + connection.server + ": ").size());
  });
  (*transport)->RunUntilIdle();
  CHECK(server.received().empty() == !refusal.empty());
  return refusal;
}

TEST_CASE("ServerVerifier tries each authority of one name", "[kube][server_verifier]") {
  // How an authority is replaced: old and new one are trusted, and kubeadm calls both kubernetes.
  for (const bool old_names_key : {false, true}) {
    for (const bool new_names_key : {false, true}) {
      const Identity old_one = MakeIdentity({.name = "kubernetes", .names_its_key = old_names_key});
      const Identity new_one = MakeIdentity({.name = "kubernetes", .names_its_key = new_names_key});
      const std::string both = old_one.certificate_pem + new_one.certificate_pem;
      const std::string other_way_round = new_one.certificate_pem + old_one.certificate_pem;
      for (const Identity* issuer : {&old_one, &new_one}) {
        const bool can_name = issuer == &old_one ? old_names_key : new_names_key;
        for (const bool names_issuers_key : {false, can_name}) {
          const Identity server =
              MakeIdentity({.issuer = issuer, .server_names = "IP:127.0.0.1", .names_issuers_key = names_issuers_key});
          CAPTURE(old_names_key, new_names_key, issuer == &old_one, names_issuers_key);
          CHECK(Refusal(server, both).empty());
          CHECK(Refusal(server, other_way_round).empty());
        }
      }
    }
  }
}

TEST_CASE("ServerVerifier tries each authority above those that a server presents", "[kube][server_verifier]") {
  const Identity old_root = MakeIdentity({.name = "root"});
  const Identity new_root = MakeIdentity({.name = "root"});
  const Identity between = MakeIdentity({.issuer = &new_root, .name = "between"});
  Identity server = MakeIdentity({.issuer = &between, .server_names = "IP:127.0.0.1"});
  server.certificate_pem += between.certificate_pem;
  CHECK(Refusal(server, old_root.certificate_pem + new_root.certificate_pem).empty());
  CHECK(Refusal(server, new_root.certificate_pem + old_root.certificate_pem).empty());
  CHECK_FALSE(Refusal(server, old_root.certificate_pem).empty());
}

TEST_CASE("ServerVerifier says of an authority that is not known which one it is", "[kube][server_verifier]") {
  const Identity issuer = MakeIdentity({.name = "kubernetes"});
  const Identity server = MakeIdentity({.issuer = &issuer, .server_names = "IP:127.0.0.1"});
  const std::string none =
      "the server's certificate is not trusted (its issuer, 'kubernetes', is none of the authorities "
      "known here";
  const std::string way_out = "): check 'certificate-authority'";
  const std::string other = MakeIdentity({.name = "other"}).certificate_pem;
  CHECK(Refusal(server, other) == none + way_out);
  const std::string namesakes =
      MakeIdentity({.name = "kubernetes"}).certificate_pem + MakeIdentity({.name = "kubernetes"}).certificate_pem;
  CHECK(Refusal(server, namesakes) == none + ", though one has that name" + way_out);
  CHECK(Refusal(server, other + namesakes + other) == none + ", though one has that name" + way_out);
  CHECK(Refusal(MakeIdentity({.server_names = "IP:127.0.0.1"}), other) ==
        "the server's certificate is not trusted (it is signed by itself" + way_out);
}

TEST_CASE("ServerVerifier quotes no name that is not printable, and none of any length", "[kube][server_verifier]") {
  const Identity issuer = MakeIdentity({.name = "\x1b]0;pwn'x"});
  CHECK(Contains(Refusal(MakeIdentity({.issuer = &issuer, .server_names = "IP:127.0.0.1"}),
                         MakeIdentity({.name = "other"}).certificate_pem),
                 "its issuer, '?]0;pwn?x', is none"));
  std::string names = "DNS:" + std::string(150, 'x');
  for (int i = 0; i < 20; ++i) names += ",DNS:n" + std::to_string(i);
  const Identity server = MakeIdentity({.server_names = names});
  CHECK(Contains(Refusal(server, server.certificate_pem),
                 "(" + std::string(100, 'x') + ", n0, n1, n2, n3, n4, n5, n6, ..., not 127.0.0.1)"));
}

TEST_CASE("ServerVerifier takes the subject alternative names, as Go does, and no common name",
          "[kube][server_verifier]") {
  struct Case {
    std::string names;
    std::string name;
    std::string want;  ///< Behind "the server's certificate "; empty: it is taken.
  };
  const std::string check = "): check 'server' or set 'tls-server-name'";
  const std::string again = "names no host in its subject alternative names: issue it again with '127.0.0.1'";
  const std::vector<Case> cases{
      {"IP:127.0.0.1", "", ""},
      {"DNS:127.0.0.1", "", "is for another name (127.0.0.1, not 127.0.0.1" + check},
      {"", "", again},
      {"email:a@b", "", again},
      {"DNS:kubernetes.test,IP:10.0.0.1,IP:fd00::1", "",
       "is for another name (kubernetes.test, 10.0.0.1, fd00::1, not 127.0.0.1" + check},
      {"IP:::1", "::1", ""},
      {"IP:::1", "[::1]", ""},
      {"IP:::1", "::2", "is for another name (::1, not ::2" + check},
      {"DNS:kubernetes.test", "kubernetes.test", ""},
      {"DNS:kubernetes.test", "KUBERNETES.test", ""},
      {"DNS:kubernetes.test", "kubernetes.test.", ""},
      {"DNS:*.test", "kubernetes.test", ""},
      {"DNS:*.Test", "kubernetes.test", ""},
      {"DNS:*.test", "test", "is for another name (*.test, not test" + check},
      {"DNS:*.test", "a.kubernetes.test", "is for another name (*.test, not a.kubernetes.test" + check},
      {"DNS:kube*.test", "kubernetes.test", "is for another name (kube*.test, not kubernetes.test" + check},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.names << " for " << c.name) {
      const Identity server = MakeIdentity({.name = "127.0.0.1", .server_names = c.names});
      CHECK(Refusal(server, server.certificate_pem, c.name) ==
            (c.want.empty() ? c.want : "the server's certificate " + c.want));
    }
  }
}

TEST_CASE("ServerVerifier says what is wrong with a certificate that an authority has signed",
          "[kube][server_verifier]") {
  using std::chrono::hours;
  const auto today = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const Identity good = MakeIdentity({.name = "authority"});
  const Identity expired = MakeIdentity({.name = "authority", .not_after = today - hours(1)});
  struct Case {
    std::string name;
    CertificateWish wish;
    std::string want;
  };
  const std::vector<Case> cases{
      {"expired",
       {.issuer = &good, .not_after = today - hours(1)},
       "the server's certificate has expired: renew it on the server"},
      {"not valid yet",
       {.issuer = &good, .not_before = today + hours(1)},
       "the server's certificate is not valid yet: compare the clocks"},
      {"expired authority",
       {.issuer = &expired},
       "the authority of the server's certificate has expired, 'authority': renew it on the server"},
      {"for keys alone, as RSA once used it", {.issuer = &good, .key_usage = "keyEncipherment"}, ""},
      {"for signing certificates",
       {.issuer = &good, .key_usage = "keyCertSign"},
       "the server's certificate is not trusted (it is not for servers, by its key usage): check "
       "'certificate-authority'"},
      {"for signatures", {.issuer = &good, .key_usage = "digitalSignature"}, ""},
      {"for clients",
       {.issuer = &good, .usage = "clientAuth"},
       "the server's certificate is not trusted (it is not for servers, by its key usage): check "
       "'certificate-authority'"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CertificateWish wish = c.wish;
      wish.server_names = "IP:127.0.0.1";
      CHECK(Refusal(MakeIdentity(wish), wish.issuer->certificate_pem) == c.want);
    }
  }
}

}  // namespace
}  // namespace cnpa
