// SPDX-License-Identifier: Apache-2.0
#include "kube/curl_failure.h"

#include <cerrno>
#include <string>

#include "base/text.h"
#include "base/time.h"

namespace cnpa {
namespace {

/// libcurl's words without their capital, and without what only its developers need.
std::string CurlMessage(CURLcode code, const char* detail) {
  std::string message = detail[0] != '\0' ? detail : curl_easy_strerror(code);
  if (message.size() > 1 && message[0] >= 'A' && message[0] <= 'Z' && (message[1] < 'A' || message[1] > 'Z')) {
    message[0] = static_cast<char>(message[0] - 'A' + 'a');
  }
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  return message;
}

std::string VerificationWords(const std::string& detail) {
  if (Contains(detail, "expired")) return "the server's certificate has expired: renew it on the server";
  if (Contains(detail, "not yet valid")) return "the server's certificate is not valid yet: compare the clocks";
  if (Contains(detail, "subject name")) {
    return "the server's certificate is for another name (" + detail + "): check 'server' or set 'tls-server-name'";
  }
  return "the server's certificate is not trusted (" + detail + "): check 'certificate-authority'";
}

/// OpenSSL's words behind the codes that only its developers need.
std::string TlsWords(const std::string& detail) {
  if (Contains(detail, "wrong version number") || Contains(detail, "http request")) {
    return "the server does not speak TLS on that port";
  }
  if (Contains(detail, "SSL_ERROR_SYSCALL")) return "no TLS with the server: the connection ended before there was any";
  const std::size_t words = detail.rfind("::");
  return "no TLS with the server: " + (words == std::string::npos ? detail : detail.substr(words + 2));
}

}  // namespace

std::string TimeoutWords(const TransferProgress& progress) {
  const std::string span = " within " + FormatDuration(progress.took);
  if (!progress.connected) return "no connection" + span;
  if (!progress.answered) return "no answer" + span;
  return "no whole answer" + span + ", " + std::to_string(progress.bytes) + " bytes of it came";
}

Error DescribeFailure(CURLcode code, const char* detail, long os_errno, const TransferProgress& progress) {
  const std::string words = CurlMessage(code, detail);
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      // libcurl does not always tell which it was.
      if (os_errno == 0) return {ErrorCode::kUnavailable, "connection refused, or no way there"};
      return {ErrorCode::kUnavailable, os_errno == ECONNREFUSED ? "connection refused" : words};
    case CURLE_OPERATION_TIMEDOUT: return {ErrorCode::kUnavailable, TimeoutWords(progress)};
    case CURLE_PEER_FAILED_VERIFICATION: return {ErrorCode::kInvalid, VerificationWords(words)};
    case CURLE_SSL_CONNECT_ERROR: return {ErrorCode::kUnavailable, TlsWords(words)};
    case CURLE_UNSUPPORTED_PROTOCOL: return {ErrorCode::kUnavailable, "the answer is not HTTP"};
    case CURLE_SSL_CACERT_BADFILE:
      return {ErrorCode::kInvalid, "no authorities to verify the server's certificate by (" + words +
                                       "): set 'certificate-authority', or install ca-certificates"};
    case CURLE_SSL_CERTPROBLEM:
      return {ErrorCode::kInvalid, "the client certificate or its key can't be used (" + words + ")"};
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_FAIL_REWIND: return {ErrorCode::kUnavailable, "the server closed the connection without an answer"};
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
      if (Contains(words, "CONNECT"))
        return {ErrorCode::kUnavailable, "the proxy does not let us through (" + words + ")"};
      if (!progress.answered)
        return {ErrorCode::kUnavailable, "the connection was lost before an answer (" + words + ")"};
      return {ErrorCode::kUnavailable, "the answer ends in the middle (" + words + ")"};
    default: return {ErrorCode::kUnavailable, words};
  }
}

}  // namespace cnpa
