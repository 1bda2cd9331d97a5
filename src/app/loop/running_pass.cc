// SPDX-License-Identifier: Apache-2.0
#include "app/loop/running_pass.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace cnpa {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatienceInHurry{300};

}  // namespace

Result<RunningPass> RunningPass::Start(const ChildTask::Function& function, milliseconds limit, milliseconds patience) {
  const Clock::time_point until = Clock::now() + limit;
  Result<ChildTask> task = ChildTask::Start("cnpa-op-pass", function);
  if (!task) return tl::unexpected<Error>(std::move(task).error());
  return RunningPass(*std::move(task), until, patience);
}

void RunningPass::Read(int most_reads, const OnMessage& on_message) {
  std::array<char, 16384> buffer{};
  for (int i = 0; i < most_reads; ++i) {
    const ssize_t count = ::read(report_fd(), buffer.data(), buffer.size());
    if (count <= 0) return;
    unread_.append(buffer.data(), static_cast<std::size_t>(count));
    std::size_t start = 0;
    for (std::size_t end = 0; (end = unread_.find('\n', start)) != std::string::npos; start = end + 1) {
      on_message(DecodePassMessage(std::string_view(unread_).substr(start, end - start)));
    }
    unread_.erase(0, start);
    if (unread_.size() > kLongestPassLineBytes) unread_.clear();
  }
}

void RunningPass::Hurry(milliseconds limit) {
  limit_ = std::min(limit_, Clock::now() + (killed_ ? kPatienceInHurry : limit));
  patience_ = kPatienceInHurry;
}

RunningPass::Clock::time_point RunningPass::next_event() const {
  return given_up_ ? Clock::time_point::max() : limit_;
}

RunningPass::Due RunningPass::CheckLimit() {
  const Clock::time_point now = Clock::now();
  if (given_up_ || now < limit_) return Due::kNothing;
  if (std::exchange(killed_, true)) {
    given_up_ = true;
    return Due::kUndying;
  }
  Kill();
  limit_ = now + patience_;
  return Due::kKilled;
}

}  // namespace cnpa
