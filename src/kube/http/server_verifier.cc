// SPDX-License-Identifier: Apache-2.0
#include "kube/http/server_verifier.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <memory>
#include <string_view>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace cnpa {
namespace {

struct Deleter {
  void operator()(X509_STORE_CTX* context) const { X509_STORE_CTX_free(context); }
  void operator()(STACK_OF(X509) * certificates) const { sk_X509_free(certificates); }
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

constexpr int kMostNames = 8;
constexpr std::size_t kLongestName = 100;

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

/// A name out of a certificate, for a message: whoever made it may have put anything in.
std::string Printable(const ASN1_STRING* text) {
  std::string printable = TextOf(text).substr(0, kLongestName);
  for (char& c : printable) {
    if (c < ' ' || c > '~' || c == '\'') c = '?';
  }
  return printable;
}

/// Returns `'kubernetes'`, the common name in `name`; "another" where there is none.
std::string CommonName(const X509_NAME* name) {
  const int place = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (place < 0) return "another";
  return "'" + Printable(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, place))) + "'";
}

/// Returns the text of an alternative name by which a server can be meant; "" for any other kind.
std::string HostOf(const GENERAL_NAME& name) {
  if (name.type == GEN_DNS) return Printable(name.d.dNSName);
  if (name.type != GEN_IPADD) return {};
  const int length = ASN1_STRING_length(name.d.iPAddress);
  if (length != 4 && length != 16) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(length == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name.d.iPAddress), text.data(), text.size());
  return text.data();
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// A '*' stands for the whole first label. OpenSSL's own matching wants two more labels behind it.
bool Matches(const std::string& pattern, const std::string& host) {
  if (!pattern.starts_with('*')) return pattern == host;
  const std::size_t dot = std::min(host.find('.'), host.size());
  return dot > 0 && pattern.substr(1) == host.substr(dot);
}

/// Returns the names of any kind that a certificate is for; null when it has none.
Owned<GENERAL_NAMES> AlternativeNames(const X509* certificate) {
  return Owned<GENERAL_NAMES>(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
}

/// Returns the names of servers in a certificate: "127.0.0.1, localhost"; "" when it has none.
std::string HostsOf(const X509* certificate) {
  const Owned<GENERAL_NAMES> names = AlternativeNames(certificate);
  std::string hosts;
  int count = 0;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const std::string host = HostOf(*sk_GENERAL_NAME_value(names.get(), i));
    if (host.empty()) continue;
    if (count++ == kMostNames) return hosts + ", ...";
    hosts += (hosts.empty() ? "" : ", ") + host;
  }
  return hosts;
}

bool IsForHost(const X509* certificate, const std::string& host) {
  const Owned<GENERAL_NAMES> names = AlternativeNames(certificate);
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME& name = *sk_GENERAL_NAME_value(names.get(), i);
    if (name.type == GEN_DNS && Matches(Lower(TextOf(name.d.dNSName)), host)) return true;
  }
  return false;
}

bool IsFor(X509* certificate, const std::string& name) {
  std::string host = Lower(name.substr(0, name.find('%')));
  if (host.starts_with('[')) host = host.substr(1, host.find(']') - 1);
  if (host.ends_with('.')) host.pop_back();
  std::array<unsigned char, sizeof(in6_addr)> address{};
  const bool is_address = ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
                          ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
  return is_address ? X509_check_ip_asc(certificate, host.c_str(), 0) == 1 : IsForHost(certificate, host);
}

/// Returns whether an attempt with one authority has more to tell than that it is not the one.
bool IsTelling(int error) {
  return error != X509_V_OK && error != X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT &&
         error != X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY && error != X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE &&
         error != X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT && error != X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN;
}

/// Verifies what `asked` has to verify by one authority; returns OpenSSL's code, and the depth in the chain it is
/// about.
std::pair<int, int> VerifyBy(X509_STORE_CTX* asked, X509* authority) {
  const Owned<X509_STORE_CTX> context(X509_STORE_CTX_new());
  const Owned<STACK_OF(X509)> trusted(sk_X509_new_null());
  sk_X509_push(trusted.get(), authority);
  // Its store is not looked at, as there are trusted ones.
  if (X509_STORE_CTX_init(context.get(), X509_STORE_CTX_get0_store(asked), X509_STORE_CTX_get0_cert(asked),
                          X509_STORE_CTX_get0_untrusted(asked)) != 1) {
    return {X509_V_ERR_UNSPECIFIED, 0};
  }
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set1(parameters, X509_STORE_CTX_get0_param(asked));
  // As Go: whatever is in there is trusted, if it signs itself or not.
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
  X509_STORE_CTX_set0_trusted_stack(context.get(), trusted.get());
  if (X509_verify_cert(context.get()) > 0) return {X509_V_OK, 0};
  const int error = X509_STORE_CTX_get_error(context.get());
  return {error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error, X509_STORE_CTX_get_error_depth(context.get())};
}

}  // namespace

ServerVerifier::ServerVerifier(TlsPeer peer, Authorities authorities, std::string name)
    : peer_(peer), authorities_(std::move(authorities)), name_(std::move(name)) {}

void ServerVerifier::VerifyIn(ssl_ctx_st* context) {
  SSL_CTX_set_cert_verify_callback(context, &ServerVerifier::OnVerify, this);
  // As Go. And nobody is verified later on than when the connection is made.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}

int ServerVerifier::OnVerify(X509_STORE_CTX* context, void* verifier) {
  // libcurl takes the first error that OpenSSL has noted for the reason, and there is one of each attempt.
  ERR_set_mark();
  const int error = static_cast<ServerVerifier*>(verifier)->Verify(context);
  ERR_pop_to_mark();
  X509_STORE_CTX_set_error(context, error);
  return error == X509_V_OK ? 1 : 0;
}

int ServerVerifier::Verify(X509_STORE_CTX* context) {
  refusal_.clear();
  X509* certificate = X509_STORE_CTX_get0_cert(context);
  const int error = VerifyByEach(context);
  if (error != X509_V_OK) {
    refusal_ = DescribeError(context);
  } else if (!IsFor(certificate, name_)) {
    refusal_ = DescribeNames(context);
    return X509_V_ERR_HOSTNAME_MISMATCH;
  }
  return error;
}

int ServerVerifier::VerifyByEach(X509_STORE_CTX* context) {
  if (authorities_.empty()) {
    if (X509_verify_cert(context) > 0) return X509_V_OK;
    const int error = X509_STORE_CTX_get_error(context);
    return error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error;
  }
  const STACK_OF(X509)* trusted = authorities_.certificates();
  std::pair<int, int> worst{X509_V_OK, 0};
  for (int i = 0; i < sk_X509_num(trusted); ++i) {
    const std::pair<int, int> ended = VerifyBy(context, sk_X509_value(trusted, i));
    if (ended.first == X509_V_OK) return X509_V_OK;
    if (i == 0 || (IsTelling(ended.first) && !IsTelling(worst.first))) worst = ended;
  }
  X509_STORE_CTX_set_error(context, worst.first);
  X509_STORE_CTX_set_error_depth(context, worst.second);
  return worst.first;
}

std::string ServerVerifier::DescribeError(X509_STORE_CTX* context) const {
  const std::string whose = peer_ == TlsPeer::kServer ? "the server" : "the proxy";
  const std::string its = whose + "'s certificate ";
  const std::string issuer = CommonName(X509_get_issuer_name(X509_STORE_CTX_get0_cert(context)));
  const bool of_authority = X509_STORE_CTX_get_error_depth(context) > 0;
  const int error = X509_STORE_CTX_get_error(context);
  std::string why;
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      if (of_authority) return "the authority of " + its + "has expired, " + issuer + ": renew it on " + whose;
      return its + "has expired: renew it on " + whose;
    case X509_V_ERR_CERT_NOT_YET_VALID: return its + "is not valid yet: compare the clocks";
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      why = "its issuer, " + issuer + ", is none of the authorities known here, though one has that name";
      break;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: why = "it is signed by itself"; break;
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      why = "its issuer, " + issuer + ", is none of the authorities known here";
      break;
    case X509_V_ERR_INVALID_PURPOSE: why = "it is not for servers, by its key usage"; break;
    default: why = X509_verify_cert_error_string(error);
  }
  return its + "is not trusted (" + why + "): check 'certificate-authority'";
}

std::string ServerVerifier::DescribeNames(X509_STORE_CTX* context) const {
  const bool of_proxy = peer_ == TlsPeer::kProxy;
  const std::string its = of_proxy ? "the proxy's certificate " : "the server's certificate ";
  const std::string hosts = HostsOf(X509_STORE_CTX_get0_cert(context));
  if (hosts.empty()) return its + "names no host in its subject alternative names: issue it again with '" + name_ + "'";
  return its + "is for another name (" + hosts + ", not " + name_ + "): check " +
         (of_proxy ? "'proxy-url'" : "'server' or set 'tls-server-name'");
}

}  // namespace cnpa
