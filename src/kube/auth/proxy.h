// SPDX-License-Identifier: Apache-2.0
//
// Which proxy leads to a server. Go's rules and not libcurl's, so that kubectl and cnpa-op take the same way.
#pragma once

#include <string>

#include "base/environment.h"
#include "base/result.h"

namespace cnpa {

/// Returns `text` as a proxy's URL: http, https or socks5, with a host and a port.
///
/// Errors:  kInvalid; the URL is not quoted, as it may hold a password.
Result<std::string> ParseProxyUrl(const std::string& text);

/// Returns the proxy to `server`, an https URL, by $HTTPS_PROXY and $NO_PROXY or their forms in lower case; "": none.
/// Loopback needs none.
///
/// Errors:  kInvalid.
///          Source:  golang.org/x/net/http/httpproxy.
Result<std::string> ProxyFromEnvironment(const std::string& server, const Environment& environment);

/// Returns whether $NO_PROXY's `list` exempts a host and port from the proxy: "*", names with their subdomains, ".name"
/// and "*.name" for subdomains only, addresses and CIDR blocks, all but blocks with an optional ":port".
bool IsExemptFromProxy(const std::string& list, const std::string& host, const std::string& port);

/// Who we are for a proxy; empty: nobody.
struct ProxyUser {
  std::string name;
  std::string password;
};

/// Returns the user that a URL names.
///
/// Requires: ParseProxyUrl() has returned it.
ProxyUser UserOf(const std::string& url);

/// Returns a URL without user and password, for messages.
std::string WithoutPassword(const std::string& url);

}  // namespace cnpa
