// SPDX-License-Identifier: Apache-2.0
#include "kube/http/curl_failure.h"

#include <string>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "base/time.h"

namespace cnpa {
namespace {

/// libcurl's words without their capital, and without what only its developers need.
std::string CurlMessage(CURLcode code, const char* detail) {
  std::string message = OneLine(detail[0] != '\0' ? detail : curl_easy_strerror(code), CURL_ERROR_SIZE);
  if (message.size() > 1 && message[0] >= 'A' && message[0] <= 'Z' && (message[1] < 'A' || message[1] > 'Z')) {
    message[0] = static_cast<char>(message[0] - 'A' + 'a');
  }
  while (message.ends_with('.')) message.pop_back();
  return message;
}

/// Returns the name of the alert with which a server ended TLS, as RFC 8446 has it; "" when it sent none.
std::string AlertName(const std::string& detail) {
  constexpr std::string_view kAlert = " alert ";
  const std::size_t alert = detail.find(kAlert);
  if (alert == std::string::npos) return {};
  const std::size_t begin = alert + kAlert.size();
  return detail.substr(begin, detail.find(',', begin) - begin);
}

std::string AlertWords(const std::string& alert) {
  const bool of_ours = Contains(alert, "certificate") || alert == "unknown ca";
  return "the server ended TLS with the alert '" + alert + "'" + (of_ours ? ": check the client certificate" : "");
}

/// What went wrong in a handshake: by what is the same in every version of OpenSSL, and else in its own words.
std::string TlsWords(const std::string& detail) {
  if (const std::string alert = AlertName(detail); !alert.empty()) return AlertWords(alert);
  for (const char* no_tls :
       {"wrong version number", "http request", "packet length too long", "record layer failure"}) {
    if (Contains(detail, no_tls)) return "the server does not speak TLS on that port";
  }
  for (const char* ended : {"SSL_ERROR_SYSCALL", "unexpected eof", "reset by peer"}) {
    if (Contains(detail, ended)) return "no TLS with the server: the connection ended before there was any";
  }
  const std::size_t words = detail.rfind("::");
  return "no TLS with the server: " + (words == std::string::npos ? detail : detail.substr(words + 2));
}

/// A connection that ended before its time, whatever the libraries call that.
std::string LostWords(const std::string& detail, const TransferProgress& progress) {
  if (progress.answered)
    return "the answer ends in the middle (" + std::to_string(progress.bytes) + " bytes of it came)";
  if (const std::string alert = AlertName(detail); !alert.empty()) return AlertWords(alert);
  return "the server closed the connection without an answer";
}

}  // namespace

std::string TimeoutWords(const TransferProgress& progress) {
  const std::string span = progress.pass_over ? ": --timeout is over" : " within " + FormatDuration(progress.took);
  if (!progress.connected) return "no connection" + span;
  if (!progress.answered) return "no answer" + span;
  return "no whole answer" + span + ", " + std::to_string(progress.bytes) + " bytes of it came";
}

Error DescribeFailure(CURLcode code, const char* detail, long os_errno, const TransferProgress& progress) {
  const std::string words = CurlMessage(code, detail);
  if (progress.connect_code >= 300) {
    return {ErrorCode::kUnavailable,
            "the proxy does not let us through (it answers " + std::to_string(progress.connect_code) + ")"};
  }
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      // libcurl does not always tell which it was.
      if (os_errno == 0) return {ErrorCode::kUnavailable, "connection refused, or no way there"};
      return {ErrorCode::kUnavailable, SystemMessage(static_cast<int>(os_errno))};
    case CURLE_OPERATION_TIMEDOUT: return {ErrorCode::kUnavailable, TimeoutWords(progress)};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {ErrorCode::kInvalid,
              "the server's certificate is not trusted (" + words + "): check 'certificate-authority'"};
    case CURLE_SSL_CONNECT_ERROR: return {ErrorCode::kUnavailable, TlsWords(words)};
    case CURLE_UNSUPPORTED_PROTOCOL: return {ErrorCode::kUnavailable, "the answer is not HTTP"};
    case CURLE_SSL_CACERT_BADFILE:
      return {ErrorCode::kInvalid, "no authorities to verify the server's certificate by (" + words +
                                       "): set 'certificate-authority', or install ca-certificates"};
    case CURLE_SSL_CERTPROBLEM:
      return {ErrorCode::kInvalid, "the client certificate or its key can't be used (" + words + ")"};
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_RECV_ERROR:
      if (Contains(words, "CONNECT")) {
        return {ErrorCode::kUnavailable, "the proxy does not let us through (it closed the connection)"};
      }
      return {ErrorCode::kUnavailable, LostWords(words, progress)};
    default: return {ErrorCode::kUnavailable, words};
  }
}

}  // namespace cnpa
