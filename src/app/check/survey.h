// SPDX-License-Identifier: Apache-2.0
//
// The reading half of `cnpa-op check`: gathers all that can be known, and judges nothing.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/stages/archive.h"
#include "base/result.h"
#include "base/time.h"
#include "core/permissions/rights.h"
#include "kube/auth/connection.h"
#include "kube/codec/codec_check.h"
#include "kube/http/transport.h"

namespace cnpa {

/// What is known of a thing; nothing when it was not asked for, because something before it had failed.
template <typename T>
using Known = std::optional<Result<T>>;

/// A point in time by this machine's clock, finely enough to compare it with another's.
using PreciseTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// When an answer was made by the server's clock, and between which moments of ours that was.
struct ClockReading {
  PreciseTime sent;
  PreciseTime received;
  std::string date;  ///< The header, as sent; empty: none.
};

/// How many objects the lists of a pass hold.
struct ListSizes {
  std::size_t team_spaces = 0;
  std::size_t namespaces = 0;  ///< Only those of teams.
  std::size_t quotas = 0;

  bool operator==(const ListSizes&) const = default;
};

struct Survey {
  Result<Connection> connection;       ///< An error: nothing was asked of any server.
  Known<std::string> version;          ///< kDenied: there is a server, and it does not tell us.
  bool ready_is_told = false;          ///< Else whether it is ready is not for us to know.
  std::vector<std::string> not_ready;  ///< What the server waits for.
  std::optional<ClockReading> clock;   ///< Nothing: no answer came.
  Known<UserInfo> user;     ///< kNotFound: the server is too old to say; kDenied: it does not say, or refuses us.
  Known<CrdReport> crd;     ///< kNotFound: not installed.
  bool with_events = true;  ///< Those are wanted, and so the rights to send them.
  std::vector<Known<bool>> rights;  ///< One for each of kLeastRights, in their order.
  Known<ListSizes> lists;           ///< An error: what a pass would end with.
  Result<ArchiveState> archive;
  std::string archive_folder;  ///< Empty: none.
  PreciseTime now;
};

/// Asks the server all that `survey` lacks but the archive. What cannot be judged once something before it has failed
/// is not asked. What a pass reads is read as a pass does it; nothing is written but reviews, which the server does not
/// store.
///
/// Requires: `survey.connection` is the one that `transport` goes to.
void SurveyServer(Transport& transport, std::chrono::milliseconds request_timeout,
                  const std::function<PreciseTime()>& now, Survey& survey);

}  // namespace cnpa
