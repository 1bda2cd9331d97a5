// SPDX-License-Identifier: Apache-2.0
//
// Which chain of a plan begins next. Chains go in the order of the plan, or another one, but for those that begin with
// an archive: writing a file holds everything up, and a disk may be slow or hang, so they get no more than their share
// of the time.
// A plain state machine: it is told what happens and knows no clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "core/plan/change.h"

namespace cnpa {

class Turns {
 public:
  /// So much may be spent on archives before what they are for, the requests behind them, has to be sent.
  static constexpr std::chrono::milliseconds kArchivesAtOnce{100};

  /// At most `concurrency` chains are at work. After `for_archives` the archives that are left come last. `order` has
  /// the indices of all chains as they are to begin; empty: as in the plan.
  Turns(const Plan& plan, std::size_t concurrency, std::chrono::milliseconds for_archives,
        const std::vector<std::size_t>& order = {});

  /// Returns the chain that begins now, which is at work until Ended() or PutBack(); nothing when none may.
  std::optional<std::size_t> Next();

  /// The same once the pass is told to end: whatever has not begun, whether it may or not.
  std::optional<std::size_t> NextToGiveUp();

  /// The archive of a chain at work took so long.
  void NoteArchive(std::chrono::milliseconds took);

  /// The archive folder is locked: no archive is begun until some time has passed, which Retry() tells.
  void PutBack(std::size_t chain);
  void Retry() { locked_ = false; }

  void Ended(std::size_t chain);

  /// Returns whether some chain has not begun.
  bool waiting() const { return !archives_.empty() || !others_.empty(); }

 private:
  enum class Kind {
    kArchive,  ///< It begins with one.
    kOther,
    kNothing,  ///< There is nothing to do, only something to say.
  };

  static Kind KindOf(const Chain& chain);
  bool MayArchive() const;
  std::size_t TakeArchive();
  std::size_t TakeOther();

  std::vector<Kind> kinds_;           ///< By chain.
  std::vector<std::size_t> place_;    ///< By chain: how many go before it.
  std::deque<std::size_t> archives_;  ///< Not begun yet, like the following.
  std::deque<std::size_t> others_;
  std::size_t concurrency_;
  std::chrono::milliseconds left_;     ///< Of the time for archives.
  std::chrono::milliseconds debt_{0};  ///< Spent on archives whose requests have no answer yet.
  std::size_t active_archives_ = 0;
  std::size_t active_others_ = 0;
  bool other_ended_ = false;  ///< One that had something to do.
  bool locked_ = false;
};

}  // namespace cnpa
