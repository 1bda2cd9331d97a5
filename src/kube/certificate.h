// SPDX-License-Identifier: Apache-2.0
//
// The one door to OpenSSL: what can be said of a client certificate before, or after, a server refuses it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace cnpa {

/// Checks that `certificate_pem` is a certificate and `key_pem` the unencrypted private key that belongs to it.
///
/// Errors:  kInvalid. Neither text is ever quoted.
Status CheckClientCertificate(const std::string& certificate_pem, const std::string& key_pem);

/// Returns `pem` without the certificates in it that can't be read, which Go passes over and libcurl does not.
///
/// Errors:  kInvalid when none is left.
Result<std::string> ReadableCertificates(const std::string& pem);

struct Validity {
  Time from;
  Time until;

  bool operator==(const Validity&) const = default;
};

/// Returns from when until when the first certificate of `certificate_pem` is valid, or nothing when there is none.
std::optional<Validity> ReadValidity(const std::string& certificate_pem);

/// Returns why the first certificate of `certificate_pem` is not valid at `now`, "expired on ..." or "is valid only
/// from ...", or "" when it is, or when there is none.
std::string DescribeValidity(const std::string& certificate_pem, Time now);

}  // namespace cnpa
