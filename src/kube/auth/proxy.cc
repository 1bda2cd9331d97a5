// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/proxy.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/percent.h"

namespace cnpa {
namespace {

/// An IP address as 16 bytes; those of IPv4 stand where IPv6 has them mapped.
struct Ip {
  std::array<unsigned char, 16> bytes{};
  bool v4 = false;

  bool operator==(const Ip&) const = default;
};

std::optional<Ip> ParseIp(const std::string& text) {
  Ip ip;
  if (::inet_pton(AF_INET, text.c_str(), ip.bytes.data() + 12) == 1) {
    ip.bytes[10] = ip.bytes[11] = 0xFF;
    ip.v4 = true;
    return ip;
  }
  if (::inet_pton(AF_INET6, text.c_str(), ip.bytes.data()) != 1) return std::nullopt;
  const bool mapped =
      std::all_of(ip.bytes.begin(), ip.bytes.begin() + 10, [](unsigned char byte) { return byte == 0; });
  ip.v4 = mapped && ip.bytes[10] == 0xFF && ip.bytes[11] == 0xFF;
  return ip;
}

bool IsLoopback(const Ip& ip) {
  if (ip.v4) return ip.bytes[12] == 127;
  return std::all_of(ip.bytes.begin(), ip.bytes.end() - 1, [](unsigned char byte) { return byte == 0; }) &&
         ip.bytes[15] == 1;
}

bool SameBits(const Ip& left, const Ip& right, int first, int count) {
  for (int bit = first; bit < first + count; ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    if (((left.bytes[byte] ^ right.bytes[byte]) & (0x80U >> static_cast<unsigned>(bit % 8))) != 0) return false;
  }
  return true;
}

/// Nothing when `entry` is no CIDR block.
std::optional<bool> InBlock(const std::string& entry, const std::optional<Ip>& ip) {
  const std::size_t slash = entry.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::optional<Ip> block = ParseIp(entry.substr(0, slash));
  int bits = -1;
  const char* const end = entry.data() + entry.size();
  const auto [stop, error] = std::from_chars(entry.data() + slash + 1, end, bits);
  const bool is_v4 = block && entry.find(':') == std::string::npos;
  if (!block || error != std::errc() || stop != end || bits < 0 || bits > (is_v4 ? 32 : 128)) return std::nullopt;
  if (!ip || ip->v4 != is_v4) return false;
  return SameBits(*ip, *block, is_v4 ? 96 : 0, bits);
}

struct HostPort {
  std::string host;  ///< Without brackets.
  std::string port;  ///< Empty: none was given.
};

/// Splits "host", "host:port", "[v6]", "[v6]:port"; an IPv6 address without brackets is a host.
HostPort SplitPort(const std::string& text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string::npos) return {text, {}};
    const std::string rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return {text, {}};
    return {text.substr(1, close - 1), rest.starts_with(':') ? rest.substr(1) : std::string()};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.find(':', colon + 1) != std::string::npos) return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string Trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool MatchesName(std::string name, const std::string& host) {
  if (name.starts_with("*.")) name.erase(0, 1);
  if (name.starts_with('.')) return host.ends_with(name);
  return host == name || host.ends_with("." + name);
}

bool Matches(const std::string& entry, const std::string& host, const std::optional<Ip>& ip, const std::string& port) {
  if (const std::optional<bool> in_block = InBlock(entry, ip)) return *in_block;
  const HostPort wanted = SplitPort(entry);
  if (entry.starts_with('[') && entry.ends_with(']')) return false;  // As Go: brackets are for an address with a port.
  if (wanted.host.empty() || (!wanted.port.empty() && wanted.port != port)) return false;
  if (const std::optional<Ip> wanted_ip = ParseIp(wanted.host)) return ip && *ip == *wanted_ip;
  return MatchesName(wanted.host, host);
}

/// Returns the part between "://" and the next '/', without a user.
std::string AuthorityOf(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t start = scheme == std::string::npos ? 0 : scheme + 3;
  const std::string authority = url.substr(start, url.find_first_of("/?#", start) - start);
  const std::size_t at = authority.rfind('@');
  return at == std::string::npos ? authority : authority.substr(at + 1);
}

std::optional<std::string> Either(const Environment& environment, const char* name, const char* lower_name) {
  if (std::optional<std::string> value = environment(name)) return value;
  return environment(lower_name);
}

}  // namespace

Result<std::string> ParseProxyUrl(const std::string& text) {
  const std::size_t colon = text.find("://");
  const std::string scheme = Lower(text.substr(0, colon == std::string::npos ? 0 : colon));
  if (scheme != "http" && scheme != "https" && scheme != "socks5") {
    return Fail(ErrorCode::kInvalid, "not a proxy such as http://proxy.example:3128, https://... or socks5://...");
  }
  const std::string authority = text.substr(colon + 3, text.find_first_of("/?#", colon + 3) - colon - 3);
  const HostPort address = SplitPort(AuthorityOf(text));
  int port = 0;
  const char* const end = address.port.data() + address.port.size();
  const auto [stop, error] = std::from_chars(address.port.data(), end, port);
  const bool port_fits = address.port.empty() || (error == std::errc() && stop == end && port > 0 && port < 65536);
  const bool one_word = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7F; });
  const std::size_t at = authority.rfind('@');
  const bool escaped = at == std::string::npos || PercentDecode(authority.substr(0, at));
  // Only in brackets may a host have a ':' in it.
  const bool bracketed = authority.substr(at == std::string::npos ? 0 : at + 1).starts_with('[');
  const bool host_fits =
      !address.host.empty() && std::all_of(address.host.begin(), address.host.end(), [bracketed](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || (bracketed && c == ':');
      });
  if (!host_fits || !port_fits || !one_word || !escaped) {
    return Fail(ErrorCode::kInvalid, "not a proxy such as http://proxy.example:3128: check its host and port");
  }
  // Go's ports; libcurl takes 1080 for all.
  const char* own_port = scheme == "http" ? ":80" : scheme == "https" ? ":443" : ":1080";
  if (!address.port.empty()) return scheme + "://" + authority;
  return scheme + "://" + authority.substr(0, authority.find_last_not_of(':') + 1) + own_port;
}

Result<std::string> ProxyFromEnvironment(const std::string& server, const Environment& environment) {
  const std::optional<std::string> proxy = Either(environment, "HTTPS_PROXY", "https_proxy");
  if (!proxy) return std::string();
  const HostPort address = SplitPort(AuthorityOf(server));
  const std::string port = address.port.empty() ? "443" : address.port;
  if (IsExemptFromProxy(Either(environment, "NO_PROXY", "no_proxy").value_or(""), address.host, port)) {
    return std::string();
  }
  constexpr std::string_view kRemote = "socks5h://";  // In a variable only; Go's socks5 is the same.
  if (proxy->starts_with(kRemote)) return ParseProxyUrl("socks5://" + proxy->substr(kRemote.size()));
  return ParseProxyUrl(proxy->find("://") == std::string::npos ? "http://" + *proxy : *proxy);
}

bool IsExemptFromProxy(const std::string& list, const std::string& host_as_given, const std::string& port) {
  const std::string host = Lower(host_as_given);
  const std::optional<Ip> ip = ParseIp(host);
  if (host == "localhost" || (ip && IsLoopback(*ip))) return true;
  std::size_t start = 0;
  while (start <= list.size()) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    const std::string entry = Lower(Trimmed(list.substr(start, end - start)));
    if (entry == "*" || (!entry.empty() && Matches(entry, host, ip, port))) return true;
    start = end + 1;
  }
  return false;
}

ProxyUser UserOf(const std::string& url) {
  const std::size_t start = url.find("://") + 3;
  const std::size_t at = url.rfind('@');
  if (at == std::string::npos || at < start) return {};
  const std::string info = url.substr(start, at - start);
  const std::size_t colon = info.find(':');
  return {PercentDecode(info.substr(0, colon)).value_or(""),
          colon == std::string::npos ? "" : PercentDecode(info.substr(colon + 1)).value_or("")};
}

std::string WithoutPassword(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  return url.substr(0, scheme + 3) + AuthorityOf(url);
}

}  // namespace cnpa
