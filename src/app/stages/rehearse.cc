// SPDX-License-Identifier: Apache-2.0
#include "app/stages/rehearse.h"

#include <cassert>
#include <optional>
#include <utility>

#include "app/stages/written.h"
#include "core/plan/describe.h"
#include "kube/codec/codec.h"

namespace cnpa {
namespace {

class Rehearsal {
 public:
  Rehearsal(const Plan& plan, Client& client, Archive& archive, std::size_t concurrency)
      : plan_(plan), client_(client), archive_(archive), concurrency_(concurrency) {
    assert(client.mode() == WriteMode::kDryRun);
    verdicts_.reserve(plan.chains.size());
    for (const Chain& chain : plan.chains) verdicts_.emplace_back(chain.changes.size());
  }

  Verdicts Run() {
    AskMore();
    client_.RunUntilIdle();
    return std::move(verdicts_);
  }

 private:
  void AskMore() {
    while (in_flight_ < concurrency_ && chain_ < plan_.chains.size()) {
      if (change_ == plan_.chains[chain_].changes.size()) {
        ++chain_;
        change_ = 0;
      } else {
        AskAbout(chain_, change_++);
      }
    }
  }

  void AskAbout(std::size_t i, std::size_t j) {
    const Chain& chain = plan_.chains[i];
    const Change& change = chain.changes[j];
    if (ActionOf(change) == Action::kArchive) return Note(i, j, LookAtArchive());
    if (const std::optional<std::string> obstacle = ComputeObstacle(chain, j)) {
      verdicts_[i][j] = {.answer = Answer::kNotChecked, .reason = {}, .message = *obstacle};
      return;
    }
    if (client_.exhausted()) {
      return Note(i, j, Fail(ErrorCode::kUnavailable, "the server fails too often: " + last_failure_));
    }
    ++in_flight_;
    client_.Write(EncodeChange(chain, change), [this, i, j](Result<std::string> body) {
      --in_flight_;
      const Chain& asked = plan_.chains[i];
      const Status answer = HoldAgainst(asked, asked.changes[j], std::move(body)).status;
      if (!answer) last_failure_ = answer.error().message;
      Note(i, j, answer);
      AskMore();
    });
  }

  void Note(std::size_t i, std::size_t j, const Status& answer) {
    const Chain& chain = plan_.chains[i];
    verdicts_[i][j] = ComputeVerdict(chain, chain.changes[j], answer);
  }

  /// One look for all archives: they go to one folder.
  const Status& LookAtArchive() {
    if (!archive_state_) {
      const Result<ArchiveState> state = archive_.Examine(Archive::Probe::kLook);
      archive_state_ = state ? Status() : tl::unexpected<Error>(state.error());
    }
    return *archive_state_;
  }

  const Plan& plan_;
  Client& client_;
  Archive& archive_;
  std::size_t concurrency_;
  Verdicts verdicts_;
  std::optional<Status> archive_state_;
  std::string last_failure_;
  std::size_t chain_ = 0;  ///< The next to ask about, with its `change_`.
  std::size_t change_ = 0;
  std::size_t in_flight_ = 0;
};

}  // namespace

Verdicts Rehearse(const Plan& plan, Client& client, Archive& archive, std::size_t concurrency) {
  return Rehearsal(plan, client, archive, concurrency).Run();
}

}  // namespace cnpa
