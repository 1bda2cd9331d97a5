// SPDX-License-Identifier: Apache-2.0
#include "kube/curl_setup.h"

#include <string_view>
#include <utility>

#include "base/base64.h"
#include "base/percent.h"
#include "base/version.h"
#include "kube/certificate.h"
#include "kube/proxy.h"

namespace cnpa {
namespace {

void SetBlob(CURL* easy, CURLoption option, const std::string& bytes) {
  if (bytes.empty()) return;
  // libcurl takes a pointer to mutable bytes and, told not to copy, only reads them.
  auto* data = const_cast<char*>(bytes.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  curl_blob blob{data, bytes.size(), CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy, option, &blob);
}

/// Go's socks5 has the proxy look names up; libcurl calls that socks5h.
std::string CurlProxy(const std::string& proxy) {
  constexpr std::string_view kSocks = "socks5://";
  return proxy.starts_with(kSocks) ? "socks5h://" + proxy.substr(kSocks.size()) : proxy;
}

/// Percent-encodes what can't be in the name of a header.
///
/// Source:   k8s.io/client-go/transport, headerKeyEscape; RFC 9110, token.
std::string EscapeHeaderName(const std::string& name) {
  return PercentEncode(name, "!#$&'*+-.^_`|~");
}

/// Returns a header as libcurl wants it: one without a value has a form of its own, else it would be left out.
std::string Header(const std::string& name, const std::string& value) {
  return value.empty() ? name + ";" : name + ": " + value;
}

CurlSlist HeadersFor(const Connection& connection) {
  CurlSlist headers;
  Append(headers, "Accept: application/json");
  Append(headers, "Expect:");  // Never wait for "100 Continue": bodies are small.
  if (!connection.token.empty()) {
    Append(headers, "Authorization: Bearer " + connection.token);
  } else if (!connection.username.empty() || !connection.password.empty()) {
    Append(headers, "Authorization: Basic " + EncodeBase64(connection.username + ":" + connection.password));
  }
  const Impersonation& impersonate = connection.impersonate;
  if (!impersonate.user.empty()) Append(headers, Header("Impersonate-User", impersonate.user));
  if (!impersonate.uid.empty()) Append(headers, Header("Impersonate-Uid", impersonate.uid));
  for (const std::string& group : impersonate.groups) Append(headers, Header("Impersonate-Group", group));
  for (const auto& [key, value] : impersonate.extra) {
    Append(headers, Header("Impersonate-Extra-" + EscapeHeaderName(key), value));
  }
  return headers;
}

}  // namespace

Result<ServerAddress> ParseServerAddress(const std::string& server) {
  const CurlUrl url(curl_url());
  const auto part = [&url](CURLUPart what) {
    char* text = nullptr;
    curl_url_get(url.get(), what, &text, CURLU_DEFAULT_PORT);
    const CurlString owned(text);
    return std::string(text != nullptr ? text : "");
  };
  if (curl_url_set(url.get(), CURLUPART_URL, server.c_str(), 0) != CURLUE_OK) {
    return Fail(ErrorCode::kInvalid, "'" + server + "' is not an address such as https://10.0.0.1:6443");
  }
  if (part(CURLUPART_SCHEME) != "https") {
    return Fail(ErrorCode::kInvalid, "'" + server + "' does not begin with https://");
  }
  ServerAddress address{part(CURLUPART_HOST), part(CURLUPART_PORT), part(CURLUPART_PATH)};
  while (address.prefix.ends_with('/')) address.prefix.pop_back();
  return address;
}

CurlSetup::CurlSetup(Connection connection, const ServerAddress& address)
    : connection_(std::move(connection)), headers_(HeadersFor(connection_)) {
  const std::string& name = connection_.tls_server_name;
  if (!name.empty()) Append(connect_to_, name + ":" + address.port + ":" + address.host + ":" + address.port);
  base_url_ = "https://" + (name.empty() ? address.host : name) + ":" + address.port + address.prefix;
}

void CurlSetup::Apply(CURL* easy, std::chrono::milliseconds connect_timeout) const {
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);  // A redirect would carry the credentials elsewhere.
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // Never wait for a name server that does not answer.
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_USERAGENT, (std::string("cnpa-op/") + kVersion).c_str());
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_timeout.count()));
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 128L << 10U);
  // The other end of a watch may go without a word.
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
  if (connect_to_) curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_.get());
  ApplyProxy(easy);
  ApplyTls(easy);
}

void CurlSetup::ApplyTls(CURL* easy) const {
  if (connection_.insecure_skip_tls_verify) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (!connection_.authorities.empty()) {
    // The system's are built into libcurl, and would be trusted too.
    for (const CURLoption system : {CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH}) {
      curl_easy_setopt(easy, system, nullptr);
    }
  }
  if (prepares_tls()) return;
  SetBlob(easy, CURLOPT_CAINFO_BLOB, connection_.authorities.pem());
  SetBlob(easy, CURLOPT_SSLCERT_BLOB, connection_.client_certificate.pem());
  SetBlob(easy, CURLOPT_SSLKEY_BLOB, connection_.client_certificate.key_pem());
}

Status CurlSetup::PrepareTls(void* context) const {
  auto* tls = static_cast<ssl_ctx_st*>(context);
  if (!connection_.authorities.empty()) connection_.authorities.TrustIn(tls);
  if (!connection_.client_certificate.empty()) return connection_.client_certificate.PresentIn(tls);
  return {};
}

/// Which proxy was decided by Go's rules; libcurl is to look at no variable of its own.
void CurlSetup::ApplyProxy(CURL* easy) const {
  // libcurl quotes the URL in its messages, and takes no password with an '@' in it.
  curl_easy_setopt(easy, CURLOPT_PROXY, CurlProxy(WithoutPassword(connection_.proxy)).c_str());
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
  if (connection_.proxy.empty()) return;
  if (const ProxyUser user = UserOf(connection_.proxy); !user.name.empty() || !user.password.empty()) {
    curl_easy_setopt(easy, CURLOPT_PROXYUSERNAME, user.name.c_str());
    curl_easy_setopt(easy, CURLOPT_PROXYPASSWORD, user.password.c_str());
  }
  curl_easy_setopt(easy, CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));  // No token for the proxy.
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  // Go trusts a proxy by what it trusts the server by.
  if (connection_.insecure_skip_tls_verify) {
    curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 0L);
  }
  SetBlob(easy, CURLOPT_PROXY_CAINFO_BLOB, connection_.authorities.pem());
}

}  // namespace cnpa
