// SPDX-License-Identifier: Apache-2.0
#include "app/commands/get.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include "app/cli/names.h"
#include "app/output/output.h"
#include "app/pass/session.h"
#include "app/pass/stop.h"
#include "app/render/overview.h"
#include "app/stages/observe.h"
#include "base/clock.h"
#include "core/plan/change.h"
#include "core/teamspace/plan.h"
#include "kube/api/client.h"
#include "kube/json/yaml.h"

namespace cnpa {
namespace {

constexpr std::string_view kNeeds = "get needs to list teamspaces, namespaces and resourcequotas";

/// Reads the cluster and returns what is to be seen of it.
Result<std::vector<TeamSpaceOverview>> LookAtAll(Client& client, Sights& sights, Time now) {
  Result<Observation> observation = Observe(client, now, &sights);
  if (!observation) return tl::unexpected<Error>(observation.error());
  Plan plan = ComputePlan(*observation);
  const Result<bool> read = ReadCrdFor(client, plan, *observation);
  if (!read) return tl::unexpected<Error>(read.error());
  if (*read) plan = ComputePlan(*observation);
  return ComputeOverview(*observation, sights, plan);
}

/// The same, and where no more than team spaces may be listed, what those say.
Result<std::vector<TeamSpaceOverview>> Look(Transport& transport, const Options& options, const Log& log, Time now) {
  Client client(transport, options.request_timeout);
  Sights sights;
  Result<std::vector<TeamSpaceOverview>> overview = LookAtAll(client, sights, now);
  if (overview || !IsForbidden(overview.error())) return overview;
  const Error error = ExplainForbiddenLook(std::move(overview).error(), kNeeds);
  const Result<std::vector<TeamSpace>> team_spaces = ObserveTeamSpaces(client, sights);
  if (!team_spaces) return tl::unexpected<Error>(error);
  log.Warn("shown is only what the team spaces themselves say: " + error.message);
  return ComputeOverview(*team_spaces, sights);
}

/// Keeps those that are named, if any are; returns a line for each name that no team space has.
std::vector<std::string> Restrict(std::vector<TeamSpaceOverview>& overview, const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  if (names.empty()) return missing;
  std::vector<std::string> known;
  known.reserve(overview.size());
  for (const TeamSpaceOverview& team_space : overview) known.push_back(team_space.name);
  for (const std::string& name : names) {
    if (!std::binary_search(known.begin(), known.end(), name)) missing.push_back(DescribeMissing(name, known));
  }
  std::erase_if(overview, [&names](const TeamSpaceOverview& team_space) {
    return std::find(names.begin(), names.end(), team_space.name) == names.end();
  });
  return missing;
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

/// Reports why there is nothing to show, in a document too where one is wanted.
ExitCode Refuse(const std::string& message, ExitCode code, const Options& options, const Log& log) {
  log.Error(message);
  if (options.output == OutputFormat::kJson) PrintLine(FailedOverviewDocument(message));
  if (options.output == OutputFormat::kYaml) Print(JsonToYaml(FailedOverviewDocument(message)));
  return StopSignals::After(code);
}

}  // namespace

ExitCode RunGet(const Options& options, const Log& log) {
  const Result<Session> session = OpenSession(options, log);
  if (!session) return Refuse(session.error().message, CodeForSession(session.error()), options, log);
  TellWarnings(session->connection, log);
  const Time now = Now();
  Result<std::vector<TeamSpaceOverview>> overview = Look(*session->transport, options, log, now);
  if (!overview) {
    const std::string message = ExplainRefusal(overview.error(), session->connection, now).message;
    return Refuse(message, ExitCode::kUnreadable, options, log);
  }
  const bool none = overview->empty();
  const std::vector<std::string> missing = Restrict(*overview, options.names);
  PrintOverview(*overview, options, now);
  for (const std::string& line : missing) log.Error(line);
  if (none && missing.empty()) log.Info("no TeamSpaces found");
  return StopSignals::After(missing.empty() ? ExitCode::kConverged : ExitCode::kUnconverged);
}

}  // namespace cnpa
