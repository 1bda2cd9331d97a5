// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/proxy.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/text.h"

namespace cnpa {
namespace {

Environment Variables(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() || found->second.empty() ? std::nullopt : std::optional(found->second);
  };
}

TEST_CASE("IsExemptFromProxy follows Go's rules for NO_PROXY", "[kube][proxy]") {
  struct Case {
    std::string list;
    std::string host;
    std::string port;
    bool want;
  };
  const std::vector<Case> cases{
      {"", "api.example.com", "443", false},
      {"", "localhost", "443", true},
      {"", "127.0.0.1", "443", true},
      {"", "127.9.9.9", "6443", true},
      {"", "::1", "443", true},
      {"", "localhost.example.com", "443", false},
      {"*", "api.example.com", "443", true},
      {"a.com, *", "api.example.com", "443", true},
      {"*.com*", "api.example.com", "443", false},
      {"example.com", "example.com", "443", true},
      {"example.com", "api.example.com", "443", true},
      {"example.com", "anexample.com", "443", false},
      {"EXAMPLE.com", "Api.Example.COM", "443", true},
      {".example.com", "example.com", "443", false},
      {".example.com", "api.example.com", "443", true},
      {"*.example.com", "example.com", "443", false},
      {"*.example.com", "api.example.com", "443", true},
      {"a.com,, example.com ,b.com", "example.com", "443", true},
      {"example.com:6443", "example.com", "6443", true},
      {"example.com:6443", "example.com", "443", false},
      {".example.com:6443", "api.example.com", "6443", true},
      {":6443", "example.com", "6443", false},
      {"10.0.0.1", "10.0.0.1", "443", true},
      {"10.0.0.1", "10.0.0.10", "443", false},
      {"10.0.0.1:6443", "10.0.0.1", "6443", true},
      {"10.0.0.1:6443", "10.0.0.1", "443", false},
      {"10.0.0.0/8", "10.200.3.4", "443", true},
      {"10.0.0.0/8", "11.0.0.1", "443", false},
      {"10.1.2.128/25", "10.1.2.127", "443", false},
      {"10.1.2.128/25", "10.1.2.128", "443", true},
      {"10.1.2.3/32", "10.1.2.3", "443", true},
      {"0.0.0.0/0", "10.1.2.3", "443", true},
      {"0.0.0.0/0", "fd00::1", "443", false},
      {"10.0.0.0/8", "ten.example.com", "443", false},
      {"10.0.0.0/33", "10.0.0.1", "443", false},
      {"10.0.0.0/8x", "10.0.0.1", "443", false},
      {"fd00::/8", "fd12::1", "443", true},
      {"fd00::/8", "fe80::1", "443", false},
      {"fd00::1", "fd00::1", "443", true},
      {"fd00::1", "fd00:0::1", "443", true},
      {"[fd00::1]:6443", "fd00::1", "6443", true},
      {"[fd00::1]:6443", "fd00::1", "443", false},
      {"[fd00::1]:", "fd00::1", "443", true},
      {"[fd00::1]", "fd00::1", "443", false},
      {"::ffff:10.0.0.1", "10.0.0.1", "443", true},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION("'" << c.list << "' and " << c.host << ":" << c.port) {
      CHECK(IsExemptFromProxy(c.list, c.host, c.port) == c.want);
    }
  }
}

TEST_CASE("ProxyFromEnvironment takes HTTPS_PROXY, else https_proxy, and no other", "[kube][proxy]") {
  const auto proxy = [](const std::map<std::string, std::string>& variables,
                        const std::string& server = "https://api.example.com:6443/prefix") {
    const Result<std::string> found = ProxyFromEnvironment(server, Variables(variables));
    REQUIRE(ErrorOf(found) == std::nullopt);
    return *found;
  };
  CHECK(proxy({}).empty());
  CHECK(proxy({{"HTTPS_PROXY", "http://p:3128"}}) == "http://p:3128");
  CHECK(proxy({{"https_proxy", "http://q:3128"}}) == "http://q:3128");
  CHECK(proxy({{"HTTPS_PROXY", "http://p:3128"}, {"https_proxy", "http://q:3128"}}) == "http://p:3128");
  CHECK(proxy({{"HTTP_PROXY", "http://p:3128"}, {"ALL_PROXY", "http://p:3128"}}).empty());
  CHECK(proxy({{"HTTPS_PROXY", "p:3128"}}) == "http://p:3128");
  CHECK(proxy({{"HTTPS_PROXY", "socks5h://p"}}) == "socks5://p:1080");
  CHECK(proxy({{"HTTPS_PROXY", "http://p:3128"}, {"NO_PROXY", "example.com"}}).empty());
  CHECK(proxy({{"HTTPS_PROXY", "http://p:3128"}, {"no_proxy", "example.com:6443"}}).empty());
  CHECK(proxy({{"HTTPS_PROXY", "http://p:3128"}, {"NO_PROXY", "example.com:443"}}) == "http://p:3128");
  CHECK(proxy({{"HTTPS_PROXY", "http://p:3128"}, {"NO_PROXY", "example.com:443"}}, "https://example.com").empty());
  CHECK(proxy({{"HTTPS_PROXY", "http://p:3128"}, {"NO_PROXY", "fd00::/8"}}, "https://[fd00::1]:6443").empty());
  CHECK(proxy({{"HTTPS_PROXY", "http://p:3128"}}, "https://127.0.0.1:6443").empty());
}

TEST_CASE("ParseProxyUrl takes http, https and socks5, with Go's ports", "[kube][proxy]") {
  struct Case {
    std::string text;
    std::string want;  ///< Empty: refused.
  };
  const std::vector<Case> cases{
      {"http://proxy", "http://proxy:80"},
      {"HTTPS://proxy", "https://proxy:443"},
      {"socks5://proxy", "socks5://proxy:1080"},
      {"http://me:secret@proxy:3128", "http://me:secret@proxy:3128"},
      {"http://me:secret@proxy/", "http://me:secret@proxy:80"},
      {"http://me:s@cret@proxy/x?y#z", "http://me:s@cret@proxy:80"},
      {"http://me:s%40cret@proxy", "http://me:s%40cret@proxy:80"},
      {"http://me:secret%zz@proxy", ""},
      {"http://proxy:65536", ""},
      {"http://proxy:", "http://proxy:80"},
      {"http://[fd00::1]:", "http://[fd00::1]:80"},
      {"http://[fd00::]>1]", ""},
      {"http://fd00::1", ""},
      {"http://a:%b:3128", ""},
      {"http://pro%78y", ""},
      {"http://[fd00::1", ""},
      {"socks5h://proxy", ""},
      {"http://[fd00::1]", "http://[fd00::1]:80"},
      {"http://[fd00::1]:3128", "http://[fd00::1]:3128"},
      {"ftp://proxy", ""},
      {"proxy:3128", ""},
      {"http://", ""},
      {"http://:3128", ""},
      {"http://proxy:port", ""},
      {"http://pro xy:3128", ""},
      {"http://proxy:3128\r\nX: y", ""},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.text) {
      const Result<std::string> parsed = ParseProxyUrl(c.text);
      CHECK(parsed.value_or("") == c.want);
      if (!parsed) CHECK_FALSE(Contains(parsed.error().message, "secret"));
    }
  }
}

TEST_CASE("UserOf gives name and password as they are meant", "[kube][proxy]") {
  const auto user = [](const std::string& url) {
    const ProxyUser found = UserOf(url);
    return found.name + "|" + found.password;
  };
  CHECK(user("http://proxy:80") == "|");
  CHECK(user("http://me@proxy:80") == "me|");
  CHECK(user("http://me:pa@ss:word@proxy:80") == "me|pa@ss:word");
  CHECK(user("http://m%65:p%40@proxy:80") == "me|p@");
}

TEST_CASE("WithoutPassword leaves scheme, host and port", "[kube][proxy]") {
  CHECK(WithoutPassword("http://me:secret@proxy:3128") == "http://proxy:3128");
  CHECK(WithoutPassword("http://me:s@cret@proxy:3128/x") == "http://proxy:3128");
  CHECK(WithoutPassword("http://proxy:3128") == "http://proxy:3128");
  CHECK(WithoutPassword("").empty());
}

}  // namespace
}  // namespace cnpa
