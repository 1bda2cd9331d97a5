// SPDX-License-Identifier: Apache-2.0
#include "app/metrics/metrics_catalog.h"

#include <utility>

#include <fmt/core.h>

namespace cnpa {
namespace {

std::string SampleOfTwo(std::string_view name, std::pair<std::string_view, std::string_view> first,
                        std::pair<std::string_view, std::string_view> second) {
  return fmt::format("{}{{{}=\"{}\",{}=\"{}\"}}", name, first.first, EscapeLabelValue(first.second), second.first,
                     EscapeLabelValue(second.second));
}

Family Passes() {
  Family family{"cnpa_op_passes_total", "counter", "Passes by how they ended.", {}, [](Metrics& metrics) {
                  return std::span<std::uint64_t>(metrics.passes);
                }};
  for (const std::string_view end : kPassEnds) family.series.push_back({Sample(family.name, "result", end), true});
  return family;
}

Family Requests() {
  Family family{"cnpa_op_requests_total",
                "counter",
                "Requests to the API server by verb and by the code of the answer, none where there was no answer.",
                {},
                [](Metrics& metrics) { return std::span<std::uint64_t>(metrics.requests); }};
  for (const std::string_view verb : kVerbs) {
    for (const std::string_view code : kCodes) {
      family.series.push_back({SampleOfTwo(family.name, {"verb", verb}, {"code", code}), false});
    }
  }
  return family;
}

/// Returns whether a plan has such changes at all.
bool IsUsual(std::string_view kind, Cause cause) {
  switch (cause) {
    case Cause::kMissing: return kind != "Archive" && kind != "CustomResourceDefinition";
    case Cause::kDiffers: return kind == "Namespace" || kind == "ResourceQuota";
    case Cause::kScoped: return kind == "ResourceQuota";
    case Cause::kBehind: return kind == "TeamSpace";
    case Cause::kBeingDeleted: return kind == "TeamSpace" || kind == "Archive";
    case Cause::kNotDeclared: return false;
  }
  return false;
}

Family Writes() {
  Family family{"cnpa_op_writes_total",
                "counter",
                "Changes made, by the kind of the object and the reason.",
                {},
                [](Metrics& metrics) { return std::span<std::uint64_t>(metrics.writes); }};
  for (const std::string_view kind : kKinds) {
    for (std::size_t i = 0; i < kCauseCount; ++i) {
      const auto cause = static_cast<Cause>(i);
      family.series.push_back(
          {SampleOfTwo(family.name, {"kind", kind}, {"reason", CauseName(cause)}), IsUsual(kind, cause)});
    }
  }
  return family;
}

/// Returns whether a team space in `state` has such a reason.
bool IsUsual(SpaceState state, Reason reason) {
  if (reason == Reason::kNotOurs || reason == Reason::kObjectTerminating) return false;  // Of declared objects.
  if (state == SpaceState::kRefused) {
    return reason != Reason::kReconciled && reason != Reason::kUnreadable && !Refusal{reason, {}}.waiting();
  }
  return state == SpaceState::kWaiting ? Refusal{reason, {}}.waiting() : reason == Reason::kReconciled;
}

Family Spaces() {
  Family family{"cnpa_op_team_spaces",
                "gauge",
                "Team spaces by state in the last pass that read the cluster, with the reason of a refusal.",
                {},
                [](Metrics& metrics) { return std::span<std::uint64_t>(metrics.spaces); }};
  for (std::size_t i = 0; i < kSpaceStates.size(); ++i) {
    for (std::size_t j = 0; j < kReasonCount; ++j) {
      const auto reason = static_cast<Reason>(j);
      const std::string_view word = reason == Reason::kReconciled ? "" : ReasonName(reason);
      family.series.push_back({SampleOfTwo(family.name, {"state", kSpaceStates[i]}, {"reason", word}),
                               IsUsual(static_cast<SpaceState>(i), reason)});
    }
  }
  return family;
}

Family Contested() {
  Family family{"cnpa_op_contested_repairs_total",
                "counter",
                "Repairs of what another writer undoes again and again.",
                {},
                [](Metrics& metrics) { return std::span<std::uint64_t>(metrics.contested); }};
  family.series.push_back({std::string(family.name), true});
  return family;
}

}  // namespace

const std::vector<Family>& Families() {
  static const std::vector<Family> kFamilies{Passes(), Requests(), Writes(), Contested(), Spaces()};
  return kFamilies;
}

std::string EscapeLabelValue(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return escaped;
}

std::string Sample(std::string_view name, std::string_view label, std::string_view value) {
  return fmt::format("{}{{{}=\"{}\"}}", name, label, EscapeLabelValue(value));
}

std::string BucketSample(std::size_t index) {
  const std::string_view limit = index < kBuckets.size() ? kBuckets[index].seconds : "+Inf";
  return Sample(std::string(kDuration) + "_bucket", "le", limit);
}

}  // namespace cnpa
