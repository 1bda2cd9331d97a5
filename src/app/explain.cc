// SPDX-License-Identifier: Apache-2.0
#include "app/explain.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include "app/archive_search.h"
#include "app/explain_document.h"
#include "app/explain_view.h"
#include "app/observe.h"
#include "app/output.h"
#include "app/session.h"
#include "app/stop.h"
#include "base/clock.h"
#include "core/explanation.h"
#include "core/plan.h"
#include "kube/client.h"
#include "kube/yaml.h"

namespace cnpa {
namespace {

/// Reads what concerns the team space and returns what there is to say of it.
Result<Explanation> Look(Transport& transport, const Options& options, const std::string& name) {
  // What can be no name need not be asked for.
  if (!IsObjectName(name)) return Explanation{.name = name, .observed_at = Now()};
  Client client(transport, options.request_timeout);
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

}  // namespace

ExitCode RunExplain(const Options& options, const Log& log) {
  const Result<Session> session = OpenSession(options, log);
  if (!session) {
    log.Error(session.error().message);
    return StopSignals::After(CodeForSession(session.error()));
  }
  TellWarnings(session->connection, log);
  const std::string& name = options.names.front();
  const Result<Explanation> explanation = Look(*session->transport, options, name);
  if (!explanation) {
    log.Error(ExplainRefusal(explanation.error(), session->connection, Now()).message);
    return StopSignals::After(ExitCode::kUnreadable);
  }
  PrintExplanation(*explanation, FindArchives(options.archive, name), options);
  if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), name) == options.only.end()) {
    log.Warn("this configuration has --only, so its passes leave TeamSpace '" + name + "' alone");
  }
  const bool known = explanation->standing != Standing::kUnknown;
  if (!known) log.Error("there is no TeamSpace '" + name + "'");
  return StopSignals::After(known ? ExitCode::kConverged : ExitCode::kUnconverged);
}

}  // namespace cnpa
