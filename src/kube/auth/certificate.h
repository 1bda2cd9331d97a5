// SPDX-License-Identifier: Apache-2.0
//
// Certificates and keys, read once and put into the TLS of every connection. Given their PEM, libcurl would have
// OpenSSL read them anew for each, which takes as long as the rest of a handshake.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

struct ssl_ctx_st;
struct stack_st_X509;

namespace cnpa {

/// Whose word on a server we take: certificates of authorities, or of servers themselves.
class Authorities {
 public:
  /// None of our own: the system's count.
  Authorities() = default;

  /// Reads PEM. Certificates in it that can't be read are passed over, as Go does.
  ///
  /// Errors:  kInvalid when none is left.
  static Result<Authorities> Read(std::string pem);

  bool empty() const { return certificates_ == nullptr; }

  /// The text that was read, or, where there is more in it than certificates that can be read, these alone.
  const std::string& pem() const { return pem_; }

  /// OpenSSL's STACK_OF(X509); null when empty().
  const stack_st_X509* certificates() const { return certificates_.get(); }

  friend bool operator==(const Authorities& a, const Authorities& b) { return a.pem_ == b.pem_; }

 private:
  std::string pem_;
  std::shared_ptr<stack_st_X509> certificates_;
};

struct Validity {
  Time from;
  Time until;

  bool operator==(const Validity&) const = default;
};

/// A certificate that says who we are, those of the authorities between, and its key. Secret. What is presented is the
/// certificates of the text and no more, as Go does: no authority in between is looked for elsewhere.
class ClientCertificate {
 public:
  /// None.
  ClientCertificate() = default;

  /// Reads PEM: a certificate, perhaps with its chain, and the unencrypted private key that belongs to it.
  ///
  /// Errors:  kInvalid. Neither text is ever quoted.
  static Result<ClientCertificate> Read(std::string pem, std::string key_pem);

  bool empty() const { return parts_ == nullptr; }
  const std::string& pem() const { return pem_; }
  const std::string& key_pem() const { return key_pem_; }

  /// Returns from when until when it is valid; nothing when there is none.
  std::optional<Validity> validity() const;

  /// Returns one that only knows how long it is valid.
  ClientCertificate WithoutKey() const;

  /// Has connections of `context`, an OpenSSL SSL_CTX, present it.
  ///
  /// Requires: !empty(), and it has its key.
  /// Errors:   kInvalid when OpenSSL's settings don't allow it, a key that is too short, say.
  Status PresentIn(ssl_ctx_st* context) const;

  friend bool operator==(const ClientCertificate& a, const ClientCertificate& b) {
    return a.pem_ == b.pem_ && a.key_pem_ == b.key_pem_;
  }

 private:
  struct Parts;

  std::string pem_;
  std::string key_pem_;
  std::shared_ptr<const Parts> parts_;
};

/// Returns why `certificate` is not valid at `now`, "expired on ..." or "is valid only from ...", or "" when it is, or
/// when there is none.
std::string DescribeValidity(const ClientCertificate& certificate, Time now);

}  // namespace cnpa
