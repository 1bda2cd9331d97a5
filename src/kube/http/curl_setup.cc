// SPDX-License-Identifier: Apache-2.0
#include "kube/http/curl_setup.h"

#include <string_view>
#include <utility>

#include "base/base64.h"
#include "base/percent.h"
#include "base/version.h"
#include "kube/auth/certificate.h"
#include "kube/auth/proxy.h"

namespace cnpa {
namespace {

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

/// Returns what the `Host` header says of a server: without a zone, and without the port that is https's own.
std::string HostHeader(const ServerAddress& address) {
  std::string host = address.host;
  if (const std::size_t zone = host.find('%'); zone != std::string::npos) host = host.substr(0, zone) + "]";
  return address.port == "443" ? host : host + ":" + address.port;
}

/// Returns a host without the escape that a zone has in a URL.
std::string Unescaped(std::string host) {
  if (const std::size_t zone = host.find("%25"); zone != std::string::npos) host.erase(zone + 1, 2);
  return host;
}

/// Returns a host's name or an IP address as it stands in a URL.
std::string HostInUrl(const std::string& host) {
  return host.find(':') != std::string::npos && !host.starts_with('[') ? "[" + host + "]" : host;
}

/// The host of a proxy's URL, such as ParseProxyUrl() returns.
std::string HostOfProxy(const std::string& proxy) {
  const std::string url = WithoutPassword(proxy);
  const std::size_t start = url.find("://") + 3;
  return url.substr(start, url.rfind(':') - start);
}

CurlSlist HeadersFor(const Connection& connection, const ServerAddress& address) {
  CurlSlist headers;
  // The URL has the name that TLS is to ask for.
  if (!connection.tls_server_name.empty()) Append(headers, "Host: " + HostHeader(address));
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
  if (const std::string zone = part(CURLUPART_ZONEID); !zone.empty()) {
    address.host.insert(address.host.size() - 1, "%25" + zone);
  }
  while (address.prefix.ends_with('/')) address.prefix.pop_back();
  return address;
}

CurlSetup::CurlSetup(Connection connection, const ServerAddress& address)
    : connection_(std::move(connection)), headers_(HeadersFor(connection_, address)) {
  const std::string& name = connection_.tls_server_name;
  // libcurl asks TLS for the name in the URL.
  if (!name.empty()) Append(connect_to_, "::" + Unescaped(address.host) + ":" + address.port);
  base_url_ = "https://" + (name.empty() ? address.host : HostInUrl(name)) + ":" + address.port + address.prefix;
  server_ =
      std::make_unique<ServerVerifier>(TlsPeer::kServer, connection_.authorities, name.empty() ? address.host : name);
  if (connection_.proxy.empty()) return;
  // Go trusts a proxy by what it trusts the server by.
  proxy_ = std::make_unique<ServerVerifier>(TlsPeer::kProxy, connection_.authorities, HostOfProxy(connection_.proxy));
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

/// What libcurl does of it: it has chains verified at all, and reads the system's authorities.
void CurlSetup::ApplyTls(CURL* easy) const {
  for (const CURLoption chain : {CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER}) {
    curl_easy_setopt(easy, chain, connection_.insecure_skip_tls_verify ? 0L : 1L);
  }
  for (const CURLoption name : {CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST}) {
    curl_easy_setopt(easy, name, 0L);  // The ServerVerifier has done that.
  }
  // As Go, which verifies each connection, and presents our certificate on it. Newer versions of libcurl have the next
  // connection take up the session of the last, which not every server that asks for certificates can do.
  curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  if (connection_.authorities.empty() && !connection_.insecure_skip_tls_verify) return;
  for (const CURLoption system : {CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH}) {
    curl_easy_setopt(easy, system, nullptr);
  }
}

Status CurlSetup::PrepareTls(void* context, TlsPeer peer) const {
  auto* tls = static_cast<ssl_ctx_st*>(context);
  if (!connection_.insecure_skip_tls_verify) (peer == TlsPeer::kProxy ? proxy_ : server_)->VerifyIn(tls);
  // A proxy is told who we are by its password alone.
  if (peer == TlsPeer::kProxy || connection_.client_certificate.empty()) return {};
  return connection_.client_certificate.PresentIn(tls);
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
}

}  // namespace cnpa
