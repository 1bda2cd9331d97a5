// SPDX-License-Identifier: Apache-2.0
//
// The real transport against a real TLS server on loopback.
#include "kube/http/curl_transport.h"

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/version.h"
#include "support/catch.h"
#include "support/certificates.h"
#include "support/loopback_server.h"
#include "support/text.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;
using Received = LoopbackServer::Received;

const Identity& ServerIdentity() {
  static const Identity kIdentity = MakeIdentity({.server_names = "IP:127.0.0.1,DNS:kubernetes.test"});
  return kIdentity;
}

Connection ConnectionTo(const LoopbackServer& server) {
  return {.server = "https://127.0.0.1:" + std::to_string(server.port()),
          .authorities = Trusting(ServerIdentity()),
          .origin = "context \"test\""};
}

TransportLimits Limits() {
  return {.deadline = Clock::now() + seconds(30)};
}

std::unique_ptr<CurlTransport> Make(const Connection& connection, TransportLimits limits = Limits(),
                                    CurlTransport::OnTrace on_trace = {}, CurlTransport::Renew renew = {}) {
  auto transport = CurlTransport::Create(connection, std::move(limits), std::move(on_trace), std::move(renew));
  REQUIRE(ErrorOf(transport) == std::nullopt);
  return *std::move(transport);
}

Result<Response> Send(Transport& transport, Request request) {
  Result<Response> got = Fail(ErrorCode::kInvalid, "on_done was not called");
  int calls = 0;
  transport.Start(std::move(request), [&](Result<Response> response) {
    ++calls;
    got = std::move(response);
  });
  transport.RunUntilIdle();
  CHECK(calls == 1);
  return got;
}

Result<Response> Send(const Connection& connection, Request request = {.path = "/"}) {
  return Send(*Make(connection), std::move(request));
}

LoopbackServer::Handler Always(const std::string& answer) {
  return [answer](const Received&) { return answer; };
}

TEST_CASE("CurlTransport sends a request and returns code, body and the headers that count", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(429, "slow down",
                                                                  "Retry-After: 7\r\nWarning: 299 - \"a\"\r\n"
                                                                  "warning:299 - \"b\"\r\n")));
  Connection connection = ConnectionTo(server);
  connection.server += "/prefix";
  connection.token = "secret";
  const Result<Response> response = Send(connection, {.path = "/a/b?c=d%3De"});
  REQUIRE(ErrorOf(response) == std::nullopt);
  CHECK(response->code == 429);
  CHECK(response->body == "slow down");
  CHECK(response->content_type == "application/json");
  CHECK(response->retry_after == "7");
  CHECK(response->warnings == std::vector<std::string>{"299 - \"a\"", "299 - \"b\""});
  REQUIRE(server.received().size() == 1);
  const Received received = server.received()[0];
  CHECK(received.method == "GET");
  CHECK(received.path == "/prefix/a/b?c=d%3De");
  CHECK(received.body.empty());
  CHECK(received.headers.at("authorization") == "Bearer secret");
  CHECK(received.headers.at("user-agent") == std::string("cnpa-op/") + kVersion);
  CHECK(received.headers.at("accept") == "application/json");
  CHECK_FALSE(received.headers.contains("content-type"));
}

TEST_CASE("CurlTransport sends bodies with their type, and none with the next request on the same connection",
          "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "{}")));
  const auto transport = Make(ConnectionTo(server));
  for (const Method method : {Method::kPost, Method::kPatch, Method::kDelete, Method::kGet}) {
    Request request{.method = method, .path = "/"};
    if (method != Method::kGet) {
      request.body = std::string("bytes \0 and more", 16);
      request.content_type = "application/json-patch+json";
    }
    REQUIRE(ErrorOf(Send(*transport, request)) == std::nullopt);
    const Received received = server.received().back();
    CHECK(received.method == MethodName(method));
    CHECK(received.body == request.body);
    CHECK(received.headers.contains("content-type") == !request.body.empty());
    CHECK_FALSE(received.headers.contains("expect"));
    CHECK_FALSE(received.headers.contains("authorization"));
  }
  CHECK(server.connections() == 1);
}

TEST_CASE("CurlTransport sends a write once, even where a kept connection ends without an answer",
          "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), [](const Received& received) {
    return received.path == "/closes" ? std::string() : HttpAnswer(200, "{}");
  });
  const auto transport = Make(ConnectionTo(server));
  for (const Method method : {Method::kPost, Method::kPatch, Method::kDelete}) {
    REQUIRE(Send(*transport, {.path = "/keeps"}));
    const std::size_t before = server.received().size();
    const Result<Response> closed =
        Send(*transport, {.method = method, .path = "/closes", .content_type = "text/plain", .body = "x"});
    CAPTURE(MethodName(method));
    CHECK(server.received().size() == before + 1);
    REQUIRE_FALSE(closed);
    CHECK(closed.error().code == ErrorCode::kUnavailable);
    CHECK(Contains(closed.error().message, "closed the connection without an answer"));
  }
}

TEST_CASE("CurlTransport asks TLS for tls-server-name, and HTTP for the server as the kubeconfig has it",
          "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "{}")));
  Connection connection = ConnectionTo(server);
  connection.tls_server_name = "kubernetes.test";
  REQUIRE(ErrorOf(Send(connection)) == std::nullopt);
  REQUIRE(ErrorOf(Send(connection, {.method = Method::kPost, .path = "/", .content_type = "t", .body = "b"})) ==
          std::nullopt);
  for (const Received& received : server.received()) {
    CHECK(received.headers.at("host") == "127.0.0.1:" + std::to_string(server.port()));
  }
}

TEST_CASE("CurlTransport takes an IPv6 address with its zone", "[kube][curl_transport]") {
  const auto refusal = [](const Connection& connection) {
    const Result<Response> response = Send(connection);
    REQUIRE_FALSE(response);
    return response.error().message;
  };
  // There is no such zone, and nobody listens: what counts is that the zone is not lost on the way.
  const std::string server = "https://[fe80::1%25nowhere]:9";
  CHECK(refusal({.server = server}).starts_with("cannot reach " + server + ": "));
  const Identity identity = MakeIdentity({.server_names = "IP:::1"});
  const LoopbackServer six(identity, Always(HttpAnswer(200, "{}")), {}, LoopbackServer::Family::kIpv6);
  Connection connection{.server = "https://[::1%251]:" + std::to_string(six.port()), .authorities = Trusting(identity)};
  REQUIRE(ErrorOf(Send(connection)) == std::nullopt);
  connection.tls_server_name = "::1";
  REQUIRE(ErrorOf(Send(connection)) == std::nullopt);
  for (const Received& received : six.received()) {
    CHECK(received.headers.at("host") == "[::1]:" + std::to_string(six.port()));
  }
}

TEST_CASE("CurlTransport sends basic authentication and impersonation", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "{}")));
  Connection connection = ConnectionTo(server);
  connection.username = "me";
  connection.password = "pass:word";
  connection.impersonate = {.user = "other", .uid = "7", .groups = {"a", "b"}, .extra = {{"scopes/x y", "z"}}};
  REQUIRE(Send(connection));
  const Received received = server.received()[0];
  CHECK(received.headers.at("authorization") == "Basic " + Base64("me:pass:word"));
  CHECK(received.headers.at("impersonate-user") == "other");
  CHECK(received.headers.at("impersonate-uid") == "7");
  CHECK(received.headers.contains("impersonate-group"));
  CHECK(received.headers.at("impersonate-extra-scopes%2fx%20y") == "z");
}

TEST_CASE("CurlTransport sends what was answered 401 once more with renewed credentials", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), [](const Received& received) {
    return received.headers.at("authorization") == "Bearer new" ? HttpAnswer(200, "{}") : HttpAnswer(401, "{}");
  });
  Connection connection = ConnectionTo(server);
  connection.token = "old";
  int renewals = 0;
  std::string next = "new";
  const auto transport = Make(connection, Limits(), {}, [&](Connection& refused) -> Result<bool> {
    ++renewals;
    if (next == "fails") return Fail(ErrorCode::kUnavailable, "exec plugin 'x': no");
    if (next.empty()) return false;
    refused.token = next;
    return true;
  });
  std::vector<int> codes;
  std::vector<Error> errors;
  const auto start = [&](Request request) {
    transport->Start(std::move(request), [&](const Result<Response>& response) {
      response ? codes.push_back(response->code) : errors.push_back(response.error());
    });
  };
  SECTION("all that were in flight") {
    for (int i = 0; i < 3; ++i) start({.method = Method::kPost, .path = "/", .content_type = "t", .body = "b"});
    transport->RunUntilIdle();
    CHECK(codes == std::vector<int>{200, 200, 200});
    CHECK(server.received().back().body == "b");
  }
  SECTION("more than there are connections, some of which have not been sent yet") {
    for (int i = 0; i < 40; ++i) start({.path = "/"});
    transport->RunUntilIdle();
    CHECK(codes == std::vector<int>(40, 200));
  }
  SECTION("not for ever") {
    next = "as bad";
    start({.path = "/"});
    transport->RunUntilIdle();
    CHECK(codes == std::vector<int>{401});
    CHECK(server.received().size() == 2);
  }
  SECTION("not where there is nothing new") {
    next = "";
    start({.path = "/"});
    transport->RunUntilIdle();
    CHECK(codes == std::vector<int>{401});
    CHECK(server.received().size() == 1);
  }
  SECTION("with none that can't be sent") {
    next = "new\r\nX-Evil: 1";
    start({.path = "/"});
    transport->RunUntilIdle();
    CHECK(errors ==
          std::vector<Error>{
              {ErrorCode::kInvalid, "context \"test\": token: has a line break or another control character in it"}});
    CHECK(server.received().size() == 1);
  }
  SECTION("with the error of what would renew them") {
    next = "fails";
    start({.path = "/"});
    transport->RunUntilIdle();
    CHECK(errors == std::vector<Error>{{ErrorCode::kUnavailable, "exec plugin 'x': no"}});
  }
  CHECK(renewals == 1);
}

TEST_CASE("CurlTransport presents a renewed client certificate, which no connection from before has",
          "[kube][curl_transport]") {
  const Identity old_client = MakeIdentity({.name = "old"});
  const Identity new_client = MakeIdentity({.name = "new"});
  const LoopbackServer server(
      ServerIdentity(), [](const Received& received) { return HttpAnswer(received.client == "new" ? 200 : 401, "{}"); },
      old_client.certificate_pem + new_client.certificate_pem);
  Connection connection = ConnectionTo(server);
  connection.client_certificate = ClientOf(old_client);
  const auto transport = Make(connection, Limits(), {}, [&](Connection& refused) -> Result<bool> {
    refused.client_certificate = ClientOf(new_client);
    return true;
  });
  std::vector<int> codes;
  for (int i = 0; i < 4; ++i) {
    transport->Start({.path = "/"}, [&codes](const Result<Response>& response) { codes.push_back(response->code); });
  }
  transport->RunUntilIdle();
  CHECK(codes == std::vector<int>(4, 200));
  CHECK(Send(*transport, {.path = "/"})->code == 200);
}

TEST_CASE("CurlTransport begins nothing with renewed credentials before all with the old ones has ended",
          "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), [](const Received& received) {
    const bool is_new = received.headers.at("authorization") == "Bearer new";
    if (received.path == "/slow") {
      std::this_thread::sleep_for(milliseconds(200));
      return HttpAnswer(200, is_new ? "new" : "old");
    }
    return HttpAnswer(is_new ? 200 : 401, "{}");
  });
  Connection connection = ConnectionTo(server);
  connection.token = "old";
  const auto transport = Make(connection, Limits(), {}, [](Connection& refused) -> Result<bool> {
    refused.token = "new";
    return true;
  });
  std::vector<std::string> ended;
  const auto start = [&](const std::string& path, const std::string& name) {
    transport->Start({.path = path}, [&ended, name](const Result<Response>& response) {
      ended.push_back(name + " " + std::to_string(response->code) + " " + response->body);
    });
  };
  start("/slow", "slow");
  start("/", "refused");
  transport->RunUntilIdle();
  CHECK(ended == std::vector<std::string>{"slow 200 old", "refused 200 {}"});
}

TEST_CASE("CurlTransport renews nothing for a webhook that denies with 401", "[kube][curl_transport]") {
  const LoopbackServer server(
      ServerIdentity(),
      Always(HttpAnswer(401, R"({"kind":"Status","apiVersion":"v1","reason":"Unauthorized","code":401,)"
                             R"("message":"admission webhook \"a.example\" denied the request: Unauthorized"})")));
  int renewed = 0;
  const auto transport = Make(ConnectionTo(server), Limits(), {}, [&renewed](Connection&) -> Result<bool> {
    ++renewed;
    return true;
  });
  CHECK(Send(*transport, {.method = Method::kPost, .path = "/"})->code == 401);
  CHECK(renewed == 0);
}

TEST_CASE("CurlTransport renews nothing for a watch, which others would have to wait for", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(401, "{}")));
  int renewals = 0;
  const auto transport = Make(ConnectionTo(server), Limits(), {}, [&](Connection&) -> Result<bool> {
    ++renewals;
    return true;
  });
  CHECK(Send(*transport, {.path = "/", .is_watch = true})->code == 401);
  CHECK(renewals == 0);
  CHECK(server.received().size() == 1);
}

TEST_CASE("CurlTransport refuses a compressed answer, which it does not ask for", "[kube][curl_transport]") {
  const Error want{ErrorCode::kMalformed, "the answer is compressed, which was not asked for"};
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "x", "Content-Encoding: gzip\r\n")));
  CHECK(ErrorOf(Send(ConnectionTo(server))) == want);
  CHECK_FALSE(server.received()[0].headers.contains("accept-encoding"));
  // "{}", as gzip has it. Older versions of libcurl unpack it.
  const std::string packed("\037\213\010\000\000\000\000\000\002\003\253\256\005\000\103\277\246\243\002\000\000\000",
                           22);
  for (const std::string encoding : {"gzip, chunked", "gzip\r\nTransfer-Encoding: chunked", "GZIP,chunked"}) {
    std::string answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: ";
    answer.append(encoding).append("\r\n\r\n16\r\n").append(packed).append("\r\n0\r\n\r\n");
    const LoopbackServer packs(ServerIdentity(), Always(answer));
    for (const Method method : {Method::kGet, Method::kPatch}) {
      CHECK_FALSE(Send(ConnectionTo(packs), {.method = method, .path = "/", .content_type = "t", .body = "b"}));
    }
  }
  const LoopbackServer chunks(ServerIdentity(),
                              Always("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked \r\n\r\n2\r\n{}\r\n0\r\n\r\n"));
  CHECK(Send(ConnectionTo(chunks))->body == "{}");
}

TEST_CASE("CurlTransport takes the proxy of the connection, and none of the environment", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "{}")));
  Connection connection = ConnectionTo(server);
  REQUIRE(::setenv("https_proxy", "http://127.0.0.1:9", 1) == 0);
  CHECK(ErrorOf(Send(connection)) == std::nullopt);
  REQUIRE(::unsetenv("https_proxy") == 0);
  connection.proxy = "http://127.0.0.1:9";
  const Result<Response> response = Send(connection);
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::kUnreachable);
  CHECK(server.received().size() == 1);
}

TEST_CASE("CurlTransport gives the body of a 200 to on_body, and of no other code", "[kube][curl_transport]") {
  const std::string large(300000, 'x');
  const LoopbackServer server(ServerIdentity(), [&large](const Received& request) {
    return HttpAnswer(request.path == "/200" ? 200 : 403, large);
  });
  for (const std::string path : {"/200", "/403"}) {
    std::string streamed;
    const Result<Response> response =
        Send(ConnectionTo(server), {.path = path, .on_body = [&streamed](std::string_view bytes) -> Status {
                                      streamed += bytes;
                                      return {};
                                    }});
    REQUIRE(ErrorOf(response) == std::nullopt);
    CHECK((streamed == large) == (path == "/200"));
    CHECK((response->body == large) == (path == "/403"));
  }
}

TEST_CASE("CurlTransport ends the request with the error of on_body", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "text")));
  const auto refuse = [](std::string_view) -> Status { return Fail(ErrorCode::kMalformed, "no list"); };
  CHECK(ErrorOf(Send(ConnectionTo(server), {.path = "/", .on_body = refuse})) ==
        Error{ErrorCode::kMalformed, "no list"});
}

TEST_CASE("CurlTransport bounds the body that it keeps", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(500, std::string(std::size_t{9} << 20U, 'x'))));
  CHECK(ErrorOf(Send(ConnectionTo(server))) == Error{ErrorCode::kMalformed, "the answer is too large"});
}

TEST_CASE("CurlTransport performs many requests over few connections", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "{}")));
  TransportLimits limits = Limits();
  limits.connections = 3;
  const auto transport = Make(ConnectionTo(server), limits);
  int done = 0;
  for (int i = 0; i < 40; ++i)
    transport->Start({.path = "/" + std::to_string(i)}, [&done](const Result<Response>& r) { done += r ? 1 : 0; });
  transport->RunUntilIdle();
  CHECK(done == 40);
  CHECK(server.connections() <= 3);
}

TEST_CASE("CurlTransport performs what a done request starts, delayed ones when they are due",
          "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "{}")));
  const auto transport = Make(ConnectionTo(server));
  std::string order;
  const auto start = Clock::now();
  transport->Start({.path = "/late", .delay = milliseconds(80)}, [&](const Result<Response>&) { order += "late "; });
  transport->Start({.path = "/first"}, [&](const Result<Response>&) {
    order += "first ";
    transport->Start({.path = "/second"}, [&](const Result<Response>&) { order += "second "; });
  });
  transport->RunUntilIdle();
  CHECK(order == "first second late ");
  CHECK(Clock::now() - start >= milliseconds(80));
}

TEST_CASE("CurlTransport follows no redirect: it would carry the credentials elsewhere", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(302, "", "Location: /elsewhere\r\n")));
  CHECK(Send(ConnectionTo(server))->code == 302);
  CHECK(server.received().size() == 1);
}

TEST_CASE("CurlTransport trusts the given authority only", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "{}")));
  Connection connection = ConnectionTo(server);
  connection.authorities = Trusting(MakeIdentity());
  const auto refused = ErrorOf(Send(connection));
  REQUIRE(refused);
  CHECK(refused->code == ErrorCode::kInvalid);
  CAPTURE(refused->message);
  CHECK(refused->message == "cannot reach " + connection.server +
                                ": the server's certificate is not trusted (it is signed by itself): check "
                                "'certificate-authority' (context \"test\")");
  CHECK(server.received().empty());
  connection.authorities = {};
  connection.insecure_skip_tls_verify = true;
  CHECK(ErrorOf(Send(connection)) == std::nullopt);
}

TEST_CASE("CurlTransport takes an authority that another one vouches for, and even a server alone",
          "[kube][curl_transport]") {
  const Identity root = MakeIdentity({.name = "root"});
  const Identity between = MakeIdentity({.issuer = &root, .name = "between"});
  const Identity identity = MakeIdentity({.issuer = &between, .name = "server", .server_names = "IP:127.0.0.1"});
  const LoopbackServer server(identity, Always(HttpAnswer(200, "{}")));
  Connection connection = ConnectionTo(server);
  for (const Identity* trusted : {&between, &identity}) {
    connection.authorities = Trusting(*trusted);
    CHECK(ErrorOf(Send(connection)) == std::nullopt);
  }
  connection.authorities = Trusting(root);  // The one between is not sent.
  CHECK(ErrorOf(Send(connection))->code == ErrorCode::kInvalid);
}

TEST_CASE("CurlTransport checks the server's name, which tls-server-name may replace", "[kube][curl_transport]") {
  const Identity identity = MakeIdentity({.server_names = "DNS:kubernetes.test"});
  const LoopbackServer server(identity, Always(HttpAnswer(200, "{}")));
  Connection connection = ConnectionTo(server);
  connection.authorities = Trusting(identity);
  const auto refused = ErrorOf(Send(connection));
  REQUIRE(refused);
  CHECK(refused->code == ErrorCode::kInvalid);
  CAPTURE(refused->message);
  CHECK(Contains(refused->message, "for another name"));
  connection.tls_server_name = "kubernetes.test";
  CHECK(ErrorOf(Send(connection)) == std::nullopt);
  connection.tls_server_name = "other.test";
  CHECK_FALSE(Send(connection));
  connection.tls_server_name.clear();
  connection.authorities = {};
  connection.insecure_skip_tls_verify = true;
  CHECK(ErrorOf(Send(connection)) == std::nullopt);
}

TEST_CASE("CurlTransport presents the client certificate", "[kube][curl_transport]") {
  const Identity client = MakeIdentity({.name = "client"});
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "{}")), client.certificate_pem);
  Connection connection = ConnectionTo(server);
  CHECK_FALSE(Send(connection));
  CHECK(server.received().empty());
  connection.client_certificate = ClientOf(client);
  CHECK(ErrorOf(Send(connection)) == std::nullopt);
}

TEST_CASE("CurlTransport presents the chain of the client certificate as it was given, and no more",
          "[kube][curl_transport]") {
  const Identity root = MakeIdentity({.name = "root"});
  const Identity between = MakeIdentity({.issuer = &root, .name = "between"});
  const Identity client = MakeIdentity({.issuer = &between, .name = "client"});
  const LoopbackServer server(
      ServerIdentity(), [](const Received& received) { return HttpAnswer(200, received.client); },
      root.certificate_pem);
  Connection connection = ConnectionTo(server);
  connection.client_certificate =
      *ClientCertificate::Read(client.certificate_pem + between.certificate_pem, client.key_pem);
  CHECK(Send(connection)->body == "client");
  connection.client_certificate = ClientOf(client);
  connection.authorities = *Authorities::Read(ServerIdentity().certificate_pem + between.certificate_pem);
  CHECK_FALSE(Send(connection));
}

TEST_CASE("CurlTransport says why a client certificate can't be presented", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "{}")));
  Connection connection = ConnectionTo(server);
  connection.client_certificate = ClientOf(MakeIdentity({.rsa_bits = 512}));
  CHECK(ErrorOf(Send(connection)) ==
        Error{ErrorCode::kInvalid,
              "cannot reach " + connection.server +
                  ": the client certificate or its key can't be used (its key is too short for the security "
                  "level 2 of this machine's OpenSSL: issue one with a longer key) (context "
                  "\"test\")"});
}

TEST_CASE("CurlTransport names server, reason and origin of a refused connection", "[kube][curl_transport]") {
  Connection connection;
  {
    const LoopbackServer server(ServerIdentity(), Always(""));
    connection = ConnectionTo(server);
  }
  CHECK(ErrorOf(Send(connection)) == Error{ErrorCode::kUnreachable, "cannot reach " + connection.server +
                                                                        ": connection refused (context \"test\")"});
}

TEST_CASE("CurlTransport takes an answer that does not come, or not whole, as unavailable", "[kube][curl_transport]") {
  struct Case {
    std::string name;
    std::string answer;
    std::string want;
  };
  const std::vector<Case> cases{
      {"closed without an answer", "", "the server closed the connection without an answer"},
      {"a body that ends in the middle", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\nhalf",
       "the answer ends in the middle (4 bytes of it came)"},
      {"a chunk that ends in the middle",
       "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf",
       "the answer ends in the middle (4 bytes of it came)"},
      {"no HTTP", "SSH-2.0-OpenSSH\r\nConnection: close\r\n\r\n", "the answer is not HTTP"},
      {"silence", LoopbackServer::kNever, "no answer within "},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const LoopbackServer server(ServerIdentity(), Always(c.answer));
      const Connection connection = ConnectionTo(server);
      const auto error = ErrorOf(Send(connection, {.path = "/", .timeout = milliseconds(300)}));
      REQUIRE(error);
      CHECK(error->code == ErrorCode::kUnavailable);
      CAPTURE(error->message);
      CHECK(error->message.starts_with("cannot reach " + connection.server + ": " + c.want));
    }
  }
}

TEST_CASE("CurlTransport says that the time of the pass is over where that was a request's limit",
          "[kube][curl_transport]") {
  struct Case {
    std::string name;
    milliseconds left;
    milliseconds own;  ///< The request's own limit.
    std::string want;
  };
  const std::vector<Case> cases{
      {"no limit of its own", milliseconds(400), milliseconds(0), "no answer: --timeout is over"},
      {"a longer one", milliseconds(400), milliseconds(20000), "no answer: --timeout is over"},
      {"a shorter one", milliseconds(20000), milliseconds(400), "no answer within "},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const LoopbackServer server(ServerIdentity(), Always(LoopbackServer::kNever));
      const Connection connection = ConnectionTo(server);
      TransportLimits limits = Limits();
      limits.deadline = Clock::now() + c.left;
      const auto error = ErrorOf(Send(*Make(connection, limits), {.path = "/", .timeout = c.own}));
      REQUIRE(error);
      CAPTURE(error->message);
      CHECK(error->message.starts_with("cannot reach " + connection.server + ": " + c.want));
    }
  }
}

TEST_CASE("CurlTransport gives up an answer that stalls, however fast it began", "[kube][curl_transport]") {
  const LoopbackServer server(
      ServerIdentity(), Always("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n" +
                               std::string(3000000, ' ')));
  TransportLimits limits = Limits();
  limits.stall_timeout = milliseconds(200);
  const auto started = Clock::now();
  const auto error = ErrorOf(Send(*Make(ConnectionTo(server), limits), {.path = "/"}));
  CHECK(Clock::now() - started < seconds(10));
  REQUIRE(error);
  CAPTURE(error->message);
  CHECK(error->code == ErrorCode::kUnavailable);
  CHECK(Contains(error->message, "no whole answer within "));
  CHECK(Contains(error->message, ", 3000000 bytes of it came"));
}

TEST_CASE("CurlTransport says of an answer that is no JSON what it is", "[kube][curl_transport]") {
  const LoopbackServer server(
      ServerIdentity(), Always("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\nContent-Length: 1\r\n\r\n<"));
  CHECK(
      ErrorOf(Send(ConnectionTo(server),
                   {.path = "/", .on_body = [](std::string_view) -> Status {
                      return Fail(ErrorCode::kMalformed, "not JSON");
                    }})) == Error{ErrorCode::kMalformed, "not JSON (it is 'text/html': is there a proxy in between?)"});
}

TEST_CASE("CurlTransport sends nothing once the deadline is over", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "{}")));
  TransportLimits limits = Limits();
  limits.deadline = Clock::now();
  const auto transport = Make(ConnectionTo(server), limits);
  CHECK(transport->stopping());
  CHECK(ErrorOf(Send(*transport, {.path = "/"})) == Error{ErrorCode::kStopped, "not sent: --timeout is over"});
  CHECK(server.connections() == 0);
}

TEST_CASE("CurlTransport gives up what is in flight at the deadline", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(LoopbackServer::kNever));
  TransportLimits limits = Limits();
  limits.deadline = Clock::now() + milliseconds(300);
  const auto transport = Make(ConnectionTo(server), limits);
  const Result<Response> response = Send(*transport, {.path = "/"});
  REQUIRE_FALSE(response);
  CHECK(response.error().code == ErrorCode::kUnavailable);
}

TEST_CASE("CurlTransport begins nothing once it is told to end, and does not wait for what is delayed",
          "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), Always(HttpAnswer(200, "{}")));
  TransportLimits limits = Limits();
  bool stop = false;
  limits.stop_requested = [&stop] { return stop; };
  const auto transport = Make(ConnectionTo(server), limits);
  CHECK_FALSE(transport->stopping());
  std::optional<Error> delayed;
  const auto start = Clock::now();
  transport->Start({.path = "/late", .delay = seconds(20)},
                   [&delayed](const Result<Response>& response) { delayed = ErrorOf(response); });
  transport->Start({.path = "/"}, [&stop](const Result<Response>&) { stop = true; });
  transport->RunUntilIdle();
  CHECK(delayed == Error{ErrorCode::kStopped, "not sent: told to end"});
  CHECK(transport->stopping());
  CHECK(Clock::now() - start < seconds(10));
  CHECK(server.received().size() == 1);
}

TEST_CASE("CurlTransport traces each request, and no secret", "[kube][curl_transport]") {
  const LoopbackServer server(ServerIdentity(), [](const Received& request) {
    return request.path == "/x" ? HttpAnswer(404, "four") : std::string();
  });
  Connection connection = ConnectionTo(server);
  connection.token = "secret";
  std::vector<RequestTrace> traces;
  const auto transport = Make(connection, Limits(), [&traces](const RequestTrace& trace) { traces.push_back(trace); });
  REQUIRE(Send(*transport, {.method = Method::kPatch, .path = "/x", .content_type = "t", .body = "body"}));
  CHECK_FALSE(Send(*transport, {.path = "/y"}));
  REQUIRE(traces.size() == 2);
  CHECK(traces[0].method == Method::kPatch);
  CHECK(traces[0].path == "/x");
  CHECK(traces[0].code == 404);
  CHECK(traces[0].bytes == 4);
  CHECK(traces[0].error.empty());
  CHECK(traces[1].code == 0);
  CHECK_FALSE(traces[1].error.empty());
  CHECK_FALSE(Contains(traces[1].error, "secret"));
}

TEST_CASE("CurlTransport::Create refuses what is no https address", "[kube][curl_transport]") {
  const auto refusal = [](const std::string& server) {
    return ErrorOf(CurlTransport::Create({.server = server}, Limits(), {}));
  };
  CHECK(refusal("http://10.0.0.1:6443") ==
        Error{ErrorCode::kInvalid, "server: 'http://10.0.0.1:6443' does not begin with https://"});
  CHECK(refusal("10.0.0.1:6443") ==
        Error{ErrorCode::kInvalid, "server: '10.0.0.1:6443' is not an address such as https://10.0.0.1:6443"});
  CHECK(refusal("https://") ==
        Error{ErrorCode::kInvalid, "server: 'https://' is not an address such as https://10.0.0.1:6443"});
  CHECK(refusal("https://[::1]:6443") == std::nullopt);
}

TEST_CASE("CurlVersion names libcurl and its TLS library", "[kube][curl_transport]") {
  CHECK(CurlVersion().starts_with("libcurl "));
  CHECK(Contains(CurlVersion(), "OpenSSL/"));
}

}  // namespace
}  // namespace cnpa
