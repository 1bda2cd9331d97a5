// SPDX-License-Identifier: Apache-2.0
#include "app/get.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include "app/observe.h"
#include "app/output.h"
#include "app/overview.h"
#include "app/session.h"
#include "app/stop.h"
#include "base/clock.h"
#include "core/plan.h"
#include "kube/client.h"
#include "kube/yaml.h"

namespace cnpa {
namespace {

/// Reads the cluster and returns what is to be seen of it.
Result<std::vector<TeamSpaceOverview>> Look(Transport& transport, const Options& options, Time now) {
  Client client(transport, options.request_timeout);
  Sights sights;
  Result<Observation> observation = Observe(client, now, &sights);
  if (!observation) return tl::unexpected<Error>(observation.error());
  Plan plan = ComputePlan(*observation);
  const Result<bool> read = ReadCrdFor(client, plan, *observation);
  if (!read) return tl::unexpected<Error>(read.error());
  if (*read) plan = ComputePlan(*observation);
  return ComputeOverview(*observation, sights, plan);
}

/// Keeps those that are named, if any are; returns the names that no team space has.
std::vector<std::string> Restrict(std::vector<TeamSpaceOverview>& overview, const std::vector<std::string>& names) {
  std::vector<std::string> unknown;
  if (names.empty()) return unknown;
  for (const std::string& name : names) {
    const bool known = std::any_of(overview.begin(), overview.end(),
                                   [&name](const TeamSpaceOverview& team_space) { return team_space.name == name; });
    if (!known) unknown.push_back(name);
  }
  std::erase_if(overview, [&names](const TeamSpaceOverview& team_space) {
    return std::find(names.begin(), names.end(), team_space.name) == names.end();
  });
  return unknown;
}

void PrintOverview(const std::vector<TeamSpaceOverview>& overview, const Options& options, Time now) {
  switch (options.output) {
    case OutputFormat::kJson: return PrintLine(OverviewDocument(overview));
    case OutputFormat::kYaml: return Print(JsonToYaml(OverviewDocument(overview)));
    case OutputFormat::kText:
    case OutputFormat::kWide:
    case OutputFormat::kName: break;
  }
  if (overview.empty()) return;
  const OverviewForm form = options.output == OutputFormat::kWide   ? OverviewForm::kWide
                            : options.output == OutputFormat::kName ? OverviewForm::kNames
                                                                    : OverviewForm::kTable;
  const ViewForm view = FormOf(options.color, STDOUT_FILENO);
  for (const std::string& line : OverviewLines(overview, form, now, view)) PrintLine(line);
}

}  // namespace

ExitCode RunGet(const Options& options, const Log& log) {
  const Result<Session> session = OpenSession(options, log);
  if (!session) {
    log.Error(session.error().message);
    return StopSignals::After(CodeForSession(session.error()));
  }
  TellWarnings(session->connection, log);
  const Time now = Now();
  Result<std::vector<TeamSpaceOverview>> overview = Look(*session->transport, options, now);
  if (!overview) {
    log.Error(ExplainRefusal(overview.error(), session->connection, now).message);
    return StopSignals::After(ExitCode::kUnreadable);
  }
  const bool none = overview->empty();
  const std::vector<std::string> unknown = Restrict(*overview, options.names);
  PrintOverview(*overview, options, now);
  for (const std::string& name : unknown) log.Error("there is no TeamSpace '" + name + "'");
  if (none && unknown.empty()) log.Info("no TeamSpaces found");
  return StopSignals::After(unknown.empty() ? ExitCode::kConverged : ExitCode::kUnconverged);
}

}  // namespace cnpa
