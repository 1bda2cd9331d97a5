// SPDX-License-Identifier: Apache-2.0
//
// What the loop remembers of what went wrong, so that a failure is a line when it begins and a line when it ends,
// however many passes it lasts.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/output/log.h"

namespace cnpa {

/// How much of the cluster a pass has looked at: what it did not look at may be as wrong as before.
enum class Looked {
  kAtNothing,
  kAtSome,  ///< It has read the cluster, and was ended before it had done all.
  kAtAll,
};

class Troubles {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// Notes what the running pass says; returns whether it has to be told, and not only been told before. What
  /// Masked() leaves out makes no difference: "no answer within 4.7 s" is the same as "within 4.8 s".
  bool Note(const LogEntry& entry, Moment now);

  /// Ends the running pass. Returns what is to be told: of each trouble that it would have mentioned, that it is over;
  /// and once, that there are more team spaces with one than are remembered.
  std::vector<LogEntry> EndPass(Looked looked, Moment now);

  /// How many problems there are now.
  std::size_t size() const { return troubles_.size() + forgotten_; }

 private:
  struct Trouble {
    bool of_whole_pass = false;  ///< It ended the pass, which has looked at nothing.
    bool of_team_space = false;
    std::string name;
    LogFields fields;
    std::set<std::uint64_t> told;  ///< Hashes of the lines on it.
    Moment since;
    Moment lasts_until{};  ///< Not over before.
    std::uint64_t passes = 0;
    bool mentioned = false;  ///< By the running pass.
  };

  bool NoteTrouble(const LogEntry& entry, Moment now);
  bool NoteWarning(const LogEntry& entry, Moment now);

  std::map<std::uint64_t, Trouble> troubles_;  ///< By the hash of their name.
  std::size_t of_team_spaces_ = 0;             ///< How many of these are about one team space.
  std::size_t beyond_ = 0;                     ///< Mentioned by the running pass, and more than are remembered.
  std::size_t forgotten_ = 0;                  ///< The same, by the last pass that has looked.
  std::map<std::uint64_t, Moment> warnings_;   ///< When each was last heard, by its hash.
};

}  // namespace cnpa
