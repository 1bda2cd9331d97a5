// SPDX-License-Identifier: Apache-2.0
#include "app/commands/explain.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include "app/cli/names.h"
#include "app/output/output.h"
#include "app/pass/session.h"
#include "app/pass/stop.h"
#include "app/render/explain_document.h"
#include "app/render/explain_view.h"
#include "app/stages/archive_search.h"
#include "app/stages/observe.h"
#include "base/clock.h"
#include "core/plan/change.h"
#include "core/teamspace/explain.h"
#include "core/teamspace/explanation.h"
#include "core/teamspace/plan.h"
#include "kube/api/client.h"
#include "kube/json/yaml.h"

namespace cnpa {
namespace {

constexpr std::string_view kNeeds =
    "explain needs to list teamspaces, namespaces, and the resourcequotas of the team's namespace";

/// Reads what concerns the team space and returns what there is to say of it.
Result<Explanation> Look(Client& client, const Options& options, const std::string& name) {
  // What can be no name need not be asked for.
  if (!IsObjectName(name)) return Explanation{.name = name, .observed_at = Now()};
  CloseSights sights;
  Result<Observation> observation = ObserveOne(client, Now(), name, sights);
  if (!observation) return tl::unexpected<Error>(observation.error());
  const PlanOptions plan_options{.allow_crd_deletion = options.allow_crd_deletion};
  Plan plan = ComputePlan(*observation, plan_options);
  const Result<bool> read = ReadCrdFor(client, plan, *observation);
  if (!read) return tl::unexpected<Error>(read.error());
  if (*read) plan = ComputePlan(*observation, plan_options);
  return ComputeExplanation(*observation, sights, plan, name);
}

void PrintExplanation(const Explanation& explanation, const ArchiveSearch& archives, const Options& options) {
  switch (options.output) {
    case OutputFormat::kJson: return PrintLine(ExplanationDocument(explanation, archives));
    case OutputFormat::kYaml: return Print(JsonToYaml(ExplanationDocument(explanation, archives)));
    case OutputFormat::kText:
    case OutputFormat::kWide:
    case OutputFormat::kName: break;
  }
  const ViewForm form = FormOf(options.color, STDOUT_FILENO);
  for (const std::string& line : ExplanationLines(explanation, archives, form)) PrintLine(line);
}

/// Reports why there is nothing to explain, in a document too where one is wanted.
ExitCode Refuse(const std::string& message, ExitCode code, const Options& options, const Log& log) {
  log.Error(message);
  const auto document = [&] { return FailedExplanationDocument(options.names.front(), message); };
  if (options.output == OutputFormat::kJson) PrintLine(document());
  if (options.output == OutputFormat::kYaml) Print(JsonToYaml(document()));
  return StopSignals::After(code);
}

/// Returns the names of all team spaces, to find the one that was perhaps meant; none where they can't be read.
std::vector<std::string> NamesOfAll(Client& client) {
  Sights sights;
  const Result<std::vector<TeamSpace>> team_spaces = ObserveTeamSpaces(client, sights);
  std::vector<std::string> names;
  if (!team_spaces) return names;
  for (const TeamSpace& team_space : *team_spaces) names.push_back(team_space.name);
  return names;
}

}  // namespace

ExitCode RunExplain(const Options& options, const Log& log) {
  const Result<Session> session = OpenSession(options, log);
  if (!session) return Refuse(session.error().message, CodeForSession(session.error()), options, log);
  TellWarnings(session->connection, log);
  const std::string& name = options.names.front();
  Client client(*session->transport, options.request_timeout);
  const Result<Explanation> explanation = Look(client, options, name);
  if (!explanation) {
    const Error error = ExplainForbiddenLook(ExplainRefusal(explanation.error(), session->connection, Now()), kNeeds);
    return Refuse(error.message, ExitCode::kUnreadable, options, log);
  }
  const bool known = explanation->standing != Standing::kUnknown;
  if (!known) log.Error(DescribeMissing(name, NamesOfAll(client)));
  PrintExplanation(*explanation, FindArchives(options.archive, name), options);
  if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), name) == options.only.end()) {
    log.Warn("this configuration has --only, so its passes leave TeamSpace '" + name + "' alone");
  }
  return StopSignals::After(known ? ExitCode::kConverged : ExitCode::kUnconverged);
}

}  // namespace cnpa
