// SPDX-License-Identifier: Apache-2.0
#include "app/render/overview.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "app/output/table.h"
#include "app/output/width.h"
#include "base/sorted.h"
#include "base/time.h"
#include "core/plan/describe.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

constexpr int kDocumentVersion = 1;

std::string At(const std::map<std::string, std::string>& values, std::string_view key) {
  const auto found = values.find(std::string(key));
  return found == values.end() ? std::string() : found->second;
}

/// Returns the element of a sorted vector whose `member` is `key`, or null.
template <typename T>
const T* Find(const std::vector<T>& objects, std::string T::*member, const std::string& key) {
  const auto found = LowerBound(objects, member, key);
  return found == objects.end() || (*found).*member != key ? nullptr : &*found;
}

bool IsOwnedBy(const Namespace& space, const TeamSpace& team_space) {
  return std::any_of(space.owners.begin(), space.owners.end(),
                     [&team_space](const OwnerReference& owner) { return owner.uid == team_space.uid; });
}

/// Returns whether anything but the status is to be changed.
bool HasDrifted(const Chain& chain) {
  return std::any_of(chain.changes.begin(), chain.changes.end(),
                     [](const Change& change) { return ActionOf(change) != Action::kWriteStatus; });
}

std::string Fraction(const Usage& usage) {
  if (usage.limit.empty()) return "-";
  return fmt::format("{}/{}", usage.used.empty() ? "?" : usage.used, usage.limit);
}

std::string Age(const std::string& created, Time now) {
  const Result<Time> since = ParseTime(created);
  // Two clocks are compared here, and the server's may be ahead.
  return since ? FormatAge(std::max(now - *since, std::chrono::seconds(0))) : "?";
}

void WriteUsage(JsonWriter& json, std::string_view key, const Usage& usage) {
  json.Object(key, [&] {
    json.StringOrNull("used", usage.used);
    json.StringOrNull("limit", usage.limit);
  });
}

void WriteTeamSpace(JsonWriter& json, const TeamSpaceOverview& team_space) {
  json.String("name", team_space.name);
  json.StringOrNull("namespace", team_space.namespace_name);
  WriteUsage(json, "pods", team_space.pods);
  WriteUsage(json, "cpu", team_space.cpu);
  json.String("state", team_space.reason());
  json.Bool("ready", team_space.ready && team_space.ready->status == "True");
  json.StringOrNull("message", team_space.ready ? team_space.ready->message : "");
  json.StringOrNull("since", team_space.ready ? team_space.ready->last_transition_time : "");
  json.Int("generation", team_space.generation);
  json.Key("observedGeneration");
  team_space.observed_generation ? json.Int(*team_space.observed_generation) : json.Null();
  json.StringOrNull("createdAt", team_space.created);
  json.StringOrNull("deletedAt", team_space.deletion_timestamp);
  json.Key("differences");
  team_space.differences ? json.Int(static_cast<std::int64_t>(*team_space.differences)) : json.Null();
}

std::string Document(std::string_view error, const std::vector<TeamSpaceOverview>& overview) {
  JsonWriter json(JsonWriter::Layout::kIndented);
  json.Object([&] {
    json.Int("version", kDocumentVersion);
    json.String("kind", "TeamSpaces");
    if (!error.empty()) json.String("error", error);
    json.Array("items", [&] {
      for (const TeamSpaceOverview& team_space : overview) {
        json.Object([&] { WriteTeamSpace(json, team_space); });
      }
    });
  });
  return json.text();
}

/// Returns what the team space itself says.
TeamSpaceOverview OverviewOf(const TeamSpace& team_space, const Sights& sights) {
  return {.name = team_space.name,
          .namespace_name = {},
          .ready = team_space.status.ready,
          .generation = team_space.generation,
          .observed_generation = team_space.status.observed_generation,
          .created = At(sights.created, team_space.name),
          .deletion_timestamp = team_space.deletion_timestamp,
          .refusal = {}};
}

}  // namespace

std::string TeamSpaceOverview::reason() const {
  if (!deletion_timestamp.empty()) return ready && ready->reason == "ArchiveFailed" ? ready->reason : "Deleting";
  if (!refusal.empty()) return refusal;
  if (!ready || ready->reason.empty()) return "Pending";
  if (ready->status != "True") return ready->reason;
  if (observed_generation.value_or(0) < generation) return "Pending";
  return drifted ? "Drift" : ready->reason;
}

std::vector<TeamSpaceOverview> ComputeOverview(const Observation& observation, const Sights& sights, const Plan& plan) {
  std::map<std::string, const Chain*> chains;
  for (const Chain& chain : plan.chains) chains[chain.name] = &chain;
  std::vector<TeamSpaceOverview> overview;
  overview.reserve(observation.team_spaces.size());
  for (const TeamSpace& team_space : observation.team_spaces) {
    TeamSpaceOverview seen = OverviewOf(team_space, sights);
    seen.differences = 0;
    const std::string space = NamespaceNameOf(team_space.name);
    const Namespace* found = Find(observation.namespaces, &Namespace::name, space);
    const Quota* quota = Find(observation.quotas, &Quota::namespace_name, space);
    if (found != nullptr && IsOwnedBy(*found, team_space)) {
      seen.namespace_name = space;
      const auto used = sights.used.find(space);
      if (quota != nullptr && used != sights.used.end()) {
        seen.pods = {At(used->second, kPodsKey), At(quota->hard, kPodsKey)};
        seen.cpu = {At(used->second, kCpuKey), At(quota->hard, kCpuKey)};
      }
    }
    if (const auto chain = chains.find(team_space.name); chain != chains.end()) {
      seen.differences = chain->second->changes.size();
      seen.drifted = HasDrifted(*chain->second);
      if (chain->second->refusal) seen.refusal = ReasonName(chain->second->refusal->reason);
    }
    overview.push_back(std::move(seen));
  }
  return overview;
}

std::vector<TeamSpaceOverview> ComputeOverview(const std::vector<TeamSpace>& team_spaces, const Sights& sights) {
  std::vector<TeamSpaceOverview> overview;
  overview.reserve(team_spaces.size());
  for (const TeamSpace& team_space : team_spaces) {
    TeamSpaceOverview seen = OverviewOf(team_space, sights);
    seen.namespace_name = team_space.status.namespace_name.value_or("");
    if (team_space.pods) seen.pods.limit = std::to_string(*team_space.pods);
    seen.cpu.limit = team_space.cpu;
    overview.push_back(std::move(seen));
  }
  return overview;
}

namespace {

using Row = std::vector<std::string>;

constexpr std::size_t kMessageIndent = 4;
constexpr std::size_t kReadyColumn = 4;
constexpr std::size_t kReasonColumn = 5;

std::string ReadyText(const TeamSpaceOverview& team_space) {
  return team_space.ready ? team_space.ready->status : "Unknown";
}

/// What a pass says of a team space that is ready says nothing that the columns don't.
std::string MessageText(const TeamSpaceOverview& team_space) {
  return team_space.ready && team_space.ready->status != "True" ? team_space.ready->message : "";
}

Row RowOf(const TeamSpaceOverview& team_space, bool wide, Time now) {
  Row row{team_space.name,
          team_space.namespace_name.empty() ? "-" : team_space.namespace_name,
          Fraction(team_space.pods),
          Fraction(team_space.cpu),
          ReadyText(team_space),
          team_space.reason(),
          Age(team_space.created, now)};
  if (!wide) return row;
  const std::string observed =
      team_space.observed_generation ? std::to_string(*team_space.observed_generation) : std::string("-");
  row.push_back(fmt::format("{}/{}", observed, team_space.generation));
  row.push_back(team_space.differences ? std::to_string(*team_space.differences) : "?");
  return row;
}

Tone ToneOf(const TeamSpaceOverview& team_space) {
  const std::string ready = ReadyText(team_space);
  if (ready != "True") return ready == "False" ? Tone::kRed : Tone::kYellow;
  return team_space.reason() == team_space.ready->reason ? Tone::kGreen : Tone::kYellow;
}

std::vector<std::string> NameLines(const std::vector<TeamSpaceOverview>& overview) {
  std::vector<std::string> names;
  names.reserve(overview.size());
  for (const TeamSpaceOverview& team_space : overview)
    names.push_back("teamspace.platform.labhub.io/" + team_space.name);
  return names;
}

}  // namespace

std::vector<std::string> OverviewLines(const std::vector<TeamSpaceOverview>& overview, OverviewForm form, Time now,
                                       const ViewForm& view) {
  if (form == OverviewForm::kNames) return NameLines(overview);
  const bool wide = form == OverviewForm::kWide;
  std::vector<Row> rows{{"NAME", "NAMESPACE", "PODS", "CPU", "READY", "REASON", "AGE"}};
  rows.reserve(overview.size() + 1);
  if (wide) rows.front().insert(rows.front().end(), {"OBSERVED", "DIFFERENCES"});
  for (const TeamSpaceOverview& team_space : overview) rows.push_back(RowOf(team_space, wide, now));
  const auto tone_of = [&](std::size_t row, std::size_t column) {
    const bool tells = row > 0 && (column == kReadyColumn || column == kReasonColumn);
    return view.color && tells ? ToneOf(overview[row - 1]) : Tone::kPlain;
  };
  if (!wide) return AlignTable(rows, tone_of, view.columns);
  std::vector<Row> with_messages = rows;
  with_messages.front().push_back("MESSAGE");
  for (std::size_t i = 0; i < overview.size(); ++i) with_messages[i + 1].push_back(MessageText(overview[i]));
  const std::vector<std::string> whole = AlignTable(with_messages);
  const bool fits = !view.columns || std::all_of(whole.begin(), whole.end(), [&view](const std::string& line) {
    return DisplayWidth(line) <= *view.columns;
  });
  if (fits) return AlignTable(with_messages, tone_of);
  std::vector<std::string> lines;
  const std::vector<std::string> narrow = AlignTable(rows, tone_of, view.columns);
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    lines.push_back(narrow[i]);
    const std::string message = i == 0 ? "" : MessageText(overview[i - 1]);
    if (message.empty()) continue;
    for (std::string& line : Hang({Blanks(kMessageIndent)}, {{message}}, kMessageIndent, view)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::string OverviewDocument(const std::vector<TeamSpaceOverview>& overview) {
  return Document({}, overview);
}

std::string FailedOverviewDocument(std::string_view error) {
  return Document(error, {});
}

}  // namespace cnpa
