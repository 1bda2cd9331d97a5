// SPDX-License-Identifier: Apache-2.0
//
// Asking the server what it would say to a write, without the write.
#pragma once

#include "base/result.h"
#include "kube/http/transport.h"

namespace cnpa {

/// Whether a client's writes are kept by the server.
enum class WriteMode {
  kReal,
  kDryRun,  ///< The server does all that it does with a write, admission included, and stores nothing.
};

/// Returns `request` as a dry run; what reads is returned as it is. A DELETE that has a body is marked there too: the
/// server looks at either the body or the query, and would delete.
///
/// Errors:  kInvalid for a DELETE whose body is no JSON object, which can't be marked: it must not be sent.
/// Source:  Kubernetes API concepts, Dry-run; k8s.io/apiserver/pkg/endpoints/handlers, DeleteResource. Seen on 1.37.2.
Result<Request> AsDryRun(Request request);

}  // namespace cnpa
