// SPDX-License-Identifier: Apache-2.0
//
// What one pass did, in numbers. Which numbers there are is fixed here, so whoever adds them up does not grow, whatever
// a server answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/stages/report.h"
#include "base/result.h"
#include "core/plan/change.h"
#include "core/plan/reason.h"
#include "kube/api/client.h"

namespace cnpa {

/// Kubernetes' words for what a request does, as Client counts them.
inline constexpr std::array<std::string_view, 5> kVerbs{"list", "get", "create", "patch", "delete"};

/// How a request was answered: a code that an API server sends, else its class, or "none" where no whole answer came.
inline constexpr std::array<std::string_view, 25> kCodes{"200", "201", "202", "400", "401", "403", "404", "405", "406",
                                                         "409", "410", "413", "415", "422", "429", "500", "502", "503",
                                                         "504", "1xx", "2xx", "3xx", "4xx", "5xx", "none"};

/// What a change was made to. An archive is a file; the others are objects.
inline constexpr std::array<std::string_view, 5> kKinds{"TeamSpace", "Namespace", "ResourceQuota", "Archive",
                                                        "CustomResourceDefinition"};

enum class SpaceState { kInSync, kRefused, kWaiting, kFailed, kLeft };
inline constexpr std::array<std::string_view, 5> kSpaceStates{"in_sync", "refused", "waiting", "failed", "left"};
static_assert(kSpaceStates.size() == static_cast<std::size_t>(SpaceState::kLeft) + 1);

inline constexpr std::size_t kCauseCount = static_cast<std::size_t>(Cause::kNotDeclared) + 1;
inline constexpr std::size_t kReasonCount = static_cast<std::size_t>(Reason::kObjectTerminating) + 1;
// They size arrays: what is appended to either enumeration has a name, as the compiler sees to, and so is counted here.
static_assert(CauseName(static_cast<Cause>(kCauseCount)).empty());
static_assert(ReasonName(static_cast<Reason>(kReasonCount)).empty());

struct PassNumbers {
  /// Whether the cluster has been read: only then `team_spaces` says something.
  bool read = false;
  std::array<std::uint64_t, kVerbs.size() * kCodes.size()> requests{};     ///< At RequestIndex().
  std::array<std::uint64_t, kKinds.size() * kCauseCount> writes{};         ///< At WriteIndex(): changes that were made.
  std::array<std::uint64_t, kSpaceStates.size() * kReasonCount> spaces{};  ///< At SpaceIndex().

  std::array<std::uint64_t, 1> contested{};  ///< Repairs of what others undo again and again.

  /// Sets the numbers of requests.
  void SetRequests(const RequestCounts& counts);

  /// Adds what was written, and makes the states of team spaces those after it.
  void Add(const Plan& plan, const Report& report);

  /// Adds what was written of one set of changes alone.
  void AddWrites(const Chain& chain, const ChainReport& done);

  /// Returns whether the pass has read the cluster and has left nothing for the next one.
  bool looked_at_all() const;

  /// Returns whether the pass has changed something.
  bool wrote() const;

  bool operator==(const PassNumbers&) const = default;
};

/// Returns where the requests of a verb that were answered with `code`, 0 for no answer, are counted.
///
/// Requires: `verb` is one of kVerbs.
std::size_t RequestIndex(std::string_view verb, int code);
std::size_t WriteIndex(const Change& change);

/// `reason` is kReconciled where there is none to tell.
std::size_t SpaceIndex(SpaceState state, Reason reason);

/// Returns the numbers that are not 0 in one word, such as "read,r3:2,s0:5".
std::string EncodePassNumbers(const PassNumbers& numbers);

/// Reads what EncodePassNumbers() wrote.
///
/// Errors:  kMalformed.
Result<PassNumbers> DecodePassNumbers(std::string_view text);

}  // namespace cnpa
