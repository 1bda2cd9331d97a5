// SPDX-License-Identifier: Apache-2.0
#include "kube/http/curl_transfer.h"

#include <string>
#include <string_view>
#include <strings.h>
#include <utility>

#include "base/text.h"

namespace cnpa {
namespace {

using std::chrono::milliseconds;

// Status documents are small; what a write returns is one object.
constexpr std::size_t kLargestBodyBytes = std::size_t{8} << 20U;
// A little less than libcurl takes, so that what people read is ours.
constexpr std::size_t kLargestHeadBytes = std::size_t{256} << 10U;
constexpr std::size_t kLongestHeader = 1024;
// libcurl measures by a clock of its own, and rounds.
constexpr milliseconds kClockSlack{20};

/// Returns whether two words are the same but for capitals.
bool Equals(std::string_view left, std::string_view right) {
  return left.size() == right.size() && strncasecmp(left.data(), right.data(), right.size()) == 0;
}

}  // namespace

CurlTransfer::CurlTransfer(Request request, Transport::OnDone on_done, const CurlSetup& setup, CurlEasy easy,
                           milliseconds timeout)
    : request_(std::move(request)),
      timeout_(timeout),
      on_done_(std::move(on_done)),
      setup_(setup),
      easy_(std::move(easy)) {
  CURL* handle = easy_.get();
  curl_easy_setopt(handle, CURLOPT_URL, setup_.Url(request_.path).c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, setup_.headers());
  if (!request_.body.empty()) ApplyBody();
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, std::string(MethodName(request_.method)).c_str());
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &CurlTransfer::OnBytes);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &CurlTransfer::OnHeader);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(handle, CURLOPT_PRIVATE, this);
  curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, &CurlTransfer::OnTls);
  curl_easy_setopt(handle, CURLOPT_SSL_CTX_DATA, this);
}

void CurlTransfer::ApplyBody() {
  CURL* handle = easy_.get();
  // A callback that can't rewind, and not the bytes themselves: libcurl would send those a second time where a kept
  // connection ends without an answer, and the first may have been heard.
  curl_easy_setopt(handle, CURLOPT_POST, 1L);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, nullptr);
  curl_easy_setopt(handle, CURLOPT_READFUNCTION, &CurlTransfer::OnSend);
  curl_easy_setopt(handle, CURLOPT_READDATA, this);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  for (const curl_slist* header = setup_.headers(); header != nullptr; header = header->next) {
    Append(headers_, header->data);
  }
  Append(headers_, "Content-Type: " + request_.content_type);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_.get());
}

CurlTransfer& CurlTransfer::Of(CURL* easy) {
  CurlTransfer* transfer = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
  return *transfer;
}

milliseconds CurlTransfer::age() const {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - started_);
}

TransferProgress CurlTransfer::progress() const {
  curl_off_t connected = 0;
  long sent = 0;
  long connect_code = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_APPCONNECT_TIME_T, &connected);
  curl_easy_getinfo(easy_.get(), CURLINFO_REQUEST_SIZE, &sent);
  curl_easy_getinfo(easy_.get(), CURLINFO_HTTP_CONNECTCODE, &connect_code);
  return {.connected = connected > 0 || sent > 0,
          .sent = sent > 0,
          .bytes = bytes_,
          .answered = response_.code != 0,
          .connect_code = connect_code,
          .took = age(),
          .pass_over = timeout_ != request_.timeout && age() + kClockSlack >= timeout_};
}

Error CurlTransfer::Failure(CURLcode code) const {
  if (!tls_status_) return DescribeFailure(code, tls_status_.error().message.c_str(), 0, progress());
  // Of TLS within TLS libcurl does not see why it failed.
  const bool of_tls = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR;
  if (of_tls && !setup_.refusal().empty()) return {ErrorCode::kInvalid, setup_.refusal()};
  long os_errno = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &os_errno);
  return DescribeFailure(code, error_.data(), os_errno, progress());
}

CURLcode CurlTransfer::OnTls(CURL* easy, void* context, void* user) {
  auto& transfer = *static_cast<CurlTransfer*>(user);
  // A proxy that speaks TLS itself is asked to connect over it, and the server's TLS begins when it has.
  const bool asks_proxy = transfer.setup_.connection().proxy.starts_with("https://");
  long connect_code = 0;
  curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &connect_code);
  const bool connected = connect_code >= 200 && connect_code < 300;
  const TlsPeer peer = asks_proxy && !connected ? TlsPeer::kProxy : TlsPeer::kServer;
  transfer.tls_status_ = transfer.setup_.PrepareTls(context, peer);
  return transfer.tls_status_ ? CURLE_OK : CURLE_SSL_CERTPROBLEM;
}

std::size_t CurlTransfer::OnSend(char* buffer, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<CurlTransfer*>(user);
  const std::size_t bytes = transfer.request_.body.copy(buffer, size * count, transfer.body_sent_);
  transfer.body_sent_ += bytes;
  return bytes;
}

std::size_t CurlTransfer::OnBytes(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<CurlTransfer*>(user);
  const std::string_view bytes(data, size * count);
  transfer.bytes_ += bytes.size();
  transfer.moved_ = Clock::now();
  if (transfer.compressed_) {
    // A few bytes of it can become many, and libcurl may have unpacked what comes so.
    transfer.body_status_ = Fail(ErrorCode::kMalformed, "the answer is compressed, which was not asked for");
  } else if (transfer.request_.on_body && transfer.response_.code == 200) {
    transfer.body_status_ = transfer.request_.on_body(bytes);
  } else if (transfer.response_.body.size() + bytes.size() > kLargestBodyBytes) {
    transfer.body_status_ = Fail(ErrorCode::kMalformed, "the answer is too large");
  } else {
    transfer.response_.body.append(bytes);
  }
  return transfer.body_status_ ? bytes.size() : CURL_WRITEFUNC_ERROR;
}

std::size_t CurlTransfer::OnHeader(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<CurlTransfer*>(user);
  transfer.moved_ = Clock::now();
  std::string_view line(data, size * count);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  transfer.TakeHeader(line);
  transfer.head_bytes_ += size * count;
  if (transfer.head_bytes_ <= kLargestHeadBytes) return size * count;
  transfer.body_status_ = Fail(ErrorCode::kMalformed, "the head of the answer is too large");
  return 0;
}

void CurlTransfer::TakeHeader(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    head_bytes_ = 0;
    response_ = {};  // A final answer begins, perhaps after an interim one.
    compressed_ = false;
    long code = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &code);
    response_.code = static_cast<int>(code);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string value = OneLine(line.substr(colon + 1), kLongestHeader);
  const auto is = [name = line.substr(0, colon)](std::string_view wanted) { return Equals(name, wanted); };
  if (is("content-type")) response_.content_type = value;
  if (is("retry-after")) response_.retry_after = value;
  if (is("date")) response_.date = value;
  if (is("content-encoding") && !Equals(value, "identity")) compressed_ = true;
  if (is("transfer-encoding") && !Equals(value, "chunked")) compressed_ = true;
  if (is("warning")) response_.warnings.emplace_back(value);
}

}  // namespace cnpa
