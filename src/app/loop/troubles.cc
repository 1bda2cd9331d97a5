// SPDX-License-Identifier: Apache-2.0
#include "app/loop/troubles.h"

#include <fmt/core.h>

#include "app/render/render.h"
#include "base/masked.h"
#include "base/text.h"
#include "base/time.h"

namespace cnpa {
namespace {

// What is remembered is bounded: a cluster with more that is wrong has more to fix than a log can say. A thousand team
// spaces must not hide that the server is away, so what concerns them all has a bound of its own.
constexpr std::size_t kMostTroubles = 1000;
constexpr std::size_t kMostLinesOfOne = 8;
constexpr std::size_t kMostWarnings = 1000;
constexpr std::chrono::hours kWarningIsNewsAfter{1};

/// Source:  FNV-1a.
std::uint64_t HashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace

bool Troubles::Note(const LogEntry& entry, Moment now) {
  if (!entry.trouble.empty() || entry.level == LogLevel::kError) return NoteTrouble(entry, now);
  return entry.level != LogLevel::kWarn || NoteWarning(entry, now);
}

bool Troubles::NoteTrouble(const LogEntry& entry, Moment now) {
  const bool of_whole_pass = entry.trouble.empty();
  const std::uint64_t key = HashOf(entry.trouble);
  auto found = troubles_.find(key);
  if (found == troubles_.end()) {
    const bool of_team_space = !entry.fields.team_space.empty();
    if ((of_team_space ? of_team_spaces_ : troubles_.size() - of_team_spaces_) >= kMostTroubles) {
      beyond_ += of_team_space ? 1 : 0;
      return false;
    }
    of_team_spaces_ += of_team_space ? 1 : 0;
    found = troubles_
                .emplace(key, Trouble{.of_whole_pass = of_whole_pass,
                                      .of_team_space = of_team_space,
                                      .name = of_whole_pass ? entry.text : entry.trouble,
                                      .fields = entry.fields,
                                      .told = {},
                                      .since = now})
                .first;
  }
  Trouble& trouble = found->second;
  if (!trouble.mentioned) ++trouble.passes;
  trouble.mentioned = true;
  trouble.lasts_until = now + entry.lasts;
  return trouble.told.size() < kMostLinesOfOne && trouble.told.insert(HashOf(Masked(entry.text))).second;
}

bool Troubles::NoteWarning(const LogEntry& entry, Moment now) {
  std::erase_if(warnings_, [now](const auto& warning) { return now - warning.second > kWarningIsNewsAfter; });
  const std::uint64_t key = HashOf(Masked(entry.text));
  const bool known = warnings_.contains(key);
  if (known || warnings_.size() < kMostWarnings) warnings_[key] = now;
  return !known;
}

std::vector<LogEntry> Troubles::EndPass(Looked looked, Moment now) {
  std::vector<LogEntry> over;
  const std::size_t before = forgotten_;
  if (looked != Looked::kAtNothing) forgotten_ = beyond_;
  if (before == 0 && forgotten_ > 0) {
    over.push_back({.level = LogLevel::kWarn,
                    .text = fmt::format("! and {} more like these, which are not logged one by one", forgotten_),
                    .trouble = {},
                    .fields = {}});
  }
  beyond_ = 0;
  for (auto it = troubles_.begin(); it != troubles_.end();) {
    Trouble& trouble = it->second;
    const bool looked_at = looked == Looked::kAtAll || (looked == Looked::kAtSome && trouble.of_whole_pass);
    if (trouble.mentioned || !looked_at || now < trouble.lasts_until) {
      trouble.mentioned = false;
      ++it;
      continue;
    }
    const auto lasted = std::chrono::duration_cast<std::chrono::milliseconds>(now - trouble.since);
    over.push_back({.level = LogLevel::kInfo,
                    .is_message = true,
                    .text = fmt::format("over after {} in {}: {}", Count(trouble.passes, "pass"),
                                        FormatDuration(lasted), trouble.name),
                    .trouble = {},
                    .fields = trouble.fields});
    of_team_spaces_ -= trouble.of_team_space ? 1 : 0;
    it = troubles_.erase(it);
  }
  return over;
}

}  // namespace cnpa
