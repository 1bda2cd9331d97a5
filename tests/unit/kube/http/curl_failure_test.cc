// SPDX-License-Identifier: Apache-2.0
//
// With what libcurl 7.88 over OpenSSL 3.0 says of a failure, and libcurl 8.14 over OpenSSL 3.5: people read the same.
#include "kube/http/curl_failure.h"

#include <cerrno>
#include <string>
#include <vector>

#include "support/catch.h"

namespace cnpa {
namespace {

constexpr TransferProgress kConnected{.connected = true, .sent = true};
constexpr TransferProgress kAnswered{.connected = true, .sent = true, .bytes = 17, .answered = true};

TEST_CASE("DescribeFailure says the same in all versions of the libraries", "[kube][curl_failure]") {
  struct Case {
    std::string name;
    CURLcode code;
    std::vector<const char*> details;  ///< In one version or the other.
    TransferProgress progress;
    Error want;
  };
  const Error closed{ErrorCode::kUnavailable, "the server closed the connection without an answer"};
  const Error half{ErrorCode::kUnavailable, "the answer ends in the middle (17 bytes of it came)"};
  const Error no_tls{ErrorCode::kUnavailable, "no TLS with the server: the connection ended before there was any"};
  const Error not_tls{ErrorCode::kUnavailable, "the server does not speak TLS on that port"};
  const std::vector<Case> cases{
      {"closed without an answer", CURLE_GOT_NOTHING, {"Empty reply from server"}, kConnected, closed},
      {"closed without TLS's farewell",
       CURLE_RECV_ERROR,
       {"OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0",
        "TLS connect error: error:0A000126:SSL routines::unexpected eof while reading"},
       kConnected,
       closed},
      {"reset",
       CURLE_RECV_ERROR,
       {"OpenSSL SSL_read: Connection reset by peer, errno 104", "Recv failure: Connection reset by peer"},
       kConnected,
       closed},
      {"lost while sending", CURLE_SEND_ERROR, {"OpenSSL SSL_write: Broken pipe, errno 32"}, kConnected, closed},
      {"a write on a connection that had ended",
       CURLE_SEND_FAIL_REWIND,
       {"necessary data rewind wasn't possible"},
       kConnected,
       closed},
      {"an answer of which a part came",
       CURLE_PARTIAL_FILE,
       {"transfer closed with 83 bytes remaining to read", "end of response with 83 bytes missing"},
       kAnswered,
       half},
      {"an answer that was cut",
       CURLE_RECV_ERROR,
       {"OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0"},
       kAnswered,
       half},
      {"a handshake that was cut",
       CURLE_SSL_CONNECT_ERROR,
       {"OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to 10.0.0.1:6443 ",
        "TLS connect error: error:0A000126:SSL routines::unexpected eof while reading",
        "OpenSSL SSL_connect: Connection reset by peer in connection to 10.0.0.1:6443 "},
       {},
       no_tls},
      {"HTTP in place of TLS",
       CURLE_SSL_CONNECT_ERROR,
       {"error:0A00010B:SSL routines::wrong version number", "error:0A0000C6:SSL routines::packet length too long",
        "TLS connect error: error:0A000139:SSL routines::record layer failure"},
       {},
       not_tls},
      {"no client certificate",
       CURLE_RECV_ERROR,
       {"OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0"},
       kConnected,
       {ErrorCode::kUnavailable,
        "the server ended TLS with the alert 'certificate required': check the client certificate"}},
      {"a client certificate that is refused",
       CURLE_SSL_CONNECT_ERROR,
       {"error:0A000412:SSL routines::sslv3 alert bad certificate",
        "TLS connect error: error:0A000412:SSL routines::ssl/tls alert bad certificate"},
       {},
       {ErrorCode::kUnavailable,
        "the server ended TLS with the alert 'bad certificate': check the client certificate"}},
      {"no version in common",
       CURLE_SSL_CONNECT_ERROR,
       {"error:0A00042E:SSL routines::tlsv1 alert protocol version"},
       {},
       {ErrorCode::kUnavailable, "the server ended TLS with the alert 'protocol version'"}},
      {"anything else of TLS",
       CURLE_SSL_CONNECT_ERROR,
       {"error:0A000102:SSL routines::unsupported protocol"},
       {},
       {ErrorCode::kUnavailable, "no TLS with the server: unsupported protocol"}},
      {"a proxy that refuses",
       CURLE_RECV_ERROR,
       {"CONNECT tunnel failed, response 403", "CONNECT tunnel failed: 403"},
       {.connect_code = 403},
       {ErrorCode::kUnavailable, "the proxy does not let us through (it answers 403)"}},
      {"a proxy that refuses, by another code",
       CURLE_COULDNT_CONNECT,
       {"CONNECT tunnel failed, response 503"},
       {.connect_code = 503},
       {ErrorCode::kUnavailable, "the proxy does not let us through (it answers 503)"}},
      {"a proxy that closes",
       CURLE_RECV_ERROR,
       {"Proxy CONNECT aborted"},
       {},
       {ErrorCode::kUnavailable, "the proxy does not let us through (it closed the connection)"}},
      {"no HTTP",
       CURLE_UNSUPPORTED_PROTOCOL,
       {"Received HTTP/0.9 when not allowed"},
       kConnected,
       {ErrorCode::kUnavailable, "the answer is not HTTP"}},
  };
  for (const Case& c : cases) {
    for (const char* detail : c.details) {
      DYNAMIC_SECTION(c.name << ": " << detail) {
        CHECK(DescribeFailure(c.code, detail, 0, c.progress) == c.want);
      }
    }
  }
}

TEST_CASE("DescribeFailure has the system's reason for a connection that was not made", "[kube][curl_failure]") {
  const auto words = [](long os_errno) {
    return DescribeFailure(CURLE_COULDNT_CONNECT, "Failed to connect to 10.0.0.1 port 6443", os_errno, {}).message;
  };
  CHECK(words(ECONNREFUSED) == "connection refused");
  CHECK(words(EHOSTUNREACH) == "no route to host");
  CHECK(words(0) == "connection refused, or no way there");
}

TEST_CASE("TimeoutWords has a duration, or that the time of the pass is over", "[kube][curl_failure]") {
  using std::chrono::milliseconds;
  CHECK(TimeoutWords({.took = milliseconds(3000)}) == "no connection within 3 s");
  CHECK(TimeoutWords({.connected = true, .took = milliseconds(3000)}) == "no answer within 3 s");
  CHECK(TimeoutWords({.connected = true, .bytes = 17, .answered = true, .took = milliseconds(3000)}) ==
        "no whole answer within 3 s, 17 bytes of it came");
  CHECK(TimeoutWords({.took = milliseconds(1), .pass_over = true}) == "no connection: --timeout is over");
  CHECK(TimeoutWords({.connected = true, .took = milliseconds(1), .pass_over = true}) ==
        "no answer: --timeout is over");
  CHECK(TimeoutWords({.connected = true, .bytes = 17, .answered = true, .took = milliseconds(1), .pass_over = true}) ==
        "no whole answer: --timeout is over, 17 bytes of it came");
}

}  // namespace
}  // namespace cnpa
