// SPDX-License-Identifier: Apache-2.0
#include "app/metrics/pass_numbers.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <span>
#include <utility>

#include "core/plan/describe.h"

namespace cnpa {
namespace {

constexpr std::string_view kRead = "read";

template <std::size_t size>
std::size_t IndexOf(std::string_view word, const std::array<std::string_view, size>& words) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

std::size_t CodeIndex(int code) {
  const std::size_t exact = IndexOf(std::to_string(code), kCodes);
  if (exact < kCodes.size()) return exact;
  const std::size_t by_class = IndexOf(std::to_string(code / 100) + "xx", kCodes);
  return by_class < kCodes.size() ? by_class : kCodes.size() - 1;
}

std::string KindOf(const Change& change) {
  return ActionOf(change) == Action::kArchive ? "Archive" : ObjectOf({}, change).kind;
}

/// Returns how a team space stands that has a chain; nothing for one that is as it should be, or is gone.
std::optional<std::size_t> StateOf(const ChainReport& report) {
  if (report.refusal) {
    return SpaceIndex(report.refusal->waiting() ? SpaceState::kWaiting : SpaceState::kRefused, report.refusal->reason);
  }
  if (report.end == ChainEnd::kComplete) return std::nullopt;
  return SpaceIndex(report.end == ChainEnd::kFailed ? SpaceState::kFailed : SpaceState::kLeft, Reason::kReconciled);
}

void Append(char letter, std::span<const std::uint64_t> numbers, std::string& text) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    if (!text.empty()) text += ',';
    text += letter + std::to_string(i) + ':' + std::to_string(numbers[i]);
  }
}

template <typename T>
bool ReadNumber(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Reads "3:2" into `numbers`; returns whether it could.
bool ReadEntry(std::string_view text, std::span<std::uint64_t> numbers) {
  const std::size_t colon = text.find(':');
  std::size_t index = 0;
  if (colon == std::string_view::npos || !ReadNumber(text.substr(0, colon), index) || index >= numbers.size()) {
    return false;
  }
  return numbers[index] == 0 && ReadNumber(text.substr(colon + 1), numbers[index]);
}

bool ReadWord(std::string_view word, PassNumbers& numbers) {
  if (word == kRead) return !std::exchange(numbers.read, true);
  if (word.empty()) return false;
  const std::string_view entry = word.substr(1);
  switch (word.front()) {
    case 'r': return ReadEntry(entry, numbers.requests);
    case 'w': return ReadEntry(entry, numbers.writes);
    case 's': return ReadEntry(entry, numbers.spaces);
    case 'c': return ReadEntry(entry, numbers.contested);
    default: return false;
  }
}

}  // namespace

void PassNumbers::SetRequests(const RequestCounts& counts) {
  requests = {};
  for (const auto& [request, count] : counts) requests[RequestIndex(request.first, request.second)] += count;
}

void PassNumbers::Add(const Plan& plan, const Report& report) {
  read = true;
  spaces = {};
  std::uint64_t in_sync = plan.team_spaces;
  for (std::size_t i = 0; i < plan.chains.size(); ++i) {
    const Chain& chain = plan.chains[i];
    const ChainReport& done = report.chains[i];
    AddWrites(chain, done);
    if (done.told) ++writes[WriteIndex({.effect = WriteStatus{}, .cause = Cause::kBehind, .fields = {}})];
    const std::optional<std::size_t> state = StateOf(done);
    if (state) ++spaces[*state];
    // What has let go of its finalizer is in no state any more.
    if (state || chain.deleting) --in_sync;
  }
  spaces[SpaceIndex(SpaceState::kInSync, Reason::kReconciled)] = in_sync;
}

void PassNumbers::AddWrites(const Chain& chain, const ChainReport& done) {
  for (std::size_t i = 0; i < done.done; ++i) {
    if (done.Made(chain, i)) ++writes[WriteIndex(chain.changes[i])];
  }
}

bool PassNumbers::wrote() const {
  return std::any_of(writes.begin(), writes.end(), [](std::uint64_t number) { return number != 0; });
}

bool PassNumbers::looked_at_all() const {
  return read && spaces[SpaceIndex(SpaceState::kLeft, Reason::kReconciled)] == 0;
}

std::size_t RequestIndex(std::string_view verb, int code) {
  const std::size_t row = IndexOf(verb, kVerbs);
  assert(row < kVerbs.size());
  return row * kCodes.size() + CodeIndex(code);
}

std::size_t WriteIndex(const Change& change) {
  return IndexOf(KindOf(change), kKinds) * kCauseCount + static_cast<std::size_t>(change.cause);
}

std::size_t SpaceIndex(SpaceState state, Reason reason) {
  return static_cast<std::size_t>(state) * kReasonCount + static_cast<std::size_t>(reason);
}

std::string EncodePassNumbers(const PassNumbers& numbers) {
  std::string text(numbers.read ? kRead : "");
  Append('r', numbers.requests, text);
  Append('w', numbers.writes, text);
  Append('s', numbers.spaces, text);
  Append('c', numbers.contested, text);
  return text;
}

Result<PassNumbers> DecodePassNumbers(std::string_view text) {
  PassNumbers numbers;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (!ReadWord(text.substr(0, comma), numbers) || comma + 1 == text.size()) {
      return Fail(ErrorCode::kMalformed, "not the numbers of a pass");
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return numbers;
}

}  // namespace cnpa
