// SPDX-License-Identifier: Apache-2.0
//
// What to say of a transfer that failed, and whether trying again can help.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <curl/curl.h>

#include "base/result.h"

namespace cnpa {

/// How far a transfer came before it failed.
struct TransferProgress {
  bool connected = false;
  bool sent = false;      ///< The request has begun.
  std::size_t bytes = 0;  ///< Of the answer's body.
  bool answered = false;  ///< The answer has begun.
  long connect_code = 0;  ///< What a proxy answered when it was asked to connect; 0: nothing, or none was asked.
  std::chrono::milliseconds took{0};
  bool pass_over = false;  ///< It has had all the time that was left of the pass.
};

/// Returns what was not there in time: "no answer within 3 s". Of a request that was begun late in a pass, its own
/// duration would say nothing: "no answer: --timeout is over".
std::string TimeoutWords(const TransferProgress& progress);

/// Returns the error for how libcurl ended a transfer: its code, its error buffer, its CURLINFO_OS_ERRNO. The words are
/// those of no library wherever they can be.
///
/// Errors:  kInvalid where a person must act, else kUnavailable.
Error DescribeFailure(CURLcode code, const char* detail, long os_errno, const TransferProgress& progress);

}  // namespace cnpa
